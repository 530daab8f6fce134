// What a switch comes to on the page is what the server makes of it, and several switches are one write.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { emptySelection } from '../../src/domain/selection.ts';
import { joinPatches, mergeSelection, type SelectionPatch } from '../../src/domain/selection-patch.ts';
import type { ChangeSelection, ConsequenceReply } from '../../web/api/types.ts';
import { hiddenBecause, joined, patched } from '../../web/state/choices.ts';
import { SelectionWriter } from '../../web/state/selection-writer.ts';

const names = fc.constantFrom('web', 'mail', 'files');
const toggles = fc.dictionary(names, fc.oneof(fc.boolean(), fc.uniqueArray(names)));
const changes: fc.Arbitrary<SelectionPatch> = fc.record(
  {
    disabled: fc.record(
      {
        tools: toggles,
        mcp: toggles,
        named_services: toggles,
        skills: fc.oneof(fc.uniqueArray(names), fc.dictionary(names, fc.boolean())),
      },
      { requiredKeys: [] },
    ),
    model: fc.option(fc.constant({ provider: 'scripted', model: 'other' })),
  },
  { requiredKeys: [] },
);

describe('choices on the page', () => {
  it('are merged as the server merges them', () => {
    fc.assert(
      fc.property(changes, changes, (first, second) => {
        const selection = mergeSelection(emptySelection, first);
        assert.deepEqual(patched(selection, second), mergeSelection(selection, second));
        assert.deepEqual(
          patched(selection, joined(first, second)),
          mergeSelection(selection, joinPatches(first, second)),
        );
      }),
    );
  });

  it('hide a skill whose tool is off', () => {
    const group = { kind: 'tools' as const, group: 'web', locked: false, open: false };
    const groups = [{ ...group, entries: [{ own: 'fetch', name: 'web_fetch' }] }];
    const selection = mergeSelection(emptySelection, { disabled: { tools: { web: ['fetch'] } } });
    assert.equal(hiddenBecause({ groups, selection }, ['web_fetch']), 'web_fetch');
    assert.equal(hiddenBecause({ groups, selection: emptySelection }, ['web_fetch']), undefined);
  });
});

const off = (group: string): ChangeSelection => ({ disabled: { tools: { [group]: true } } });

function aReply(isCostly = false): ConsequenceReply {
  const assumes = { prices: 'unknown' as const };
  return {
    agent: 'main',
    selection: emptySelection,
    pending: [],
    dropped: [],
    parts: [
      {
        class: 'capability_toggle',
        policy: 'confirm',
        done: 'applied',
        consequence: { kind: isCostly ? 'all' : 'free', tokens: 9, assumes },
      },
    ],
    choices: isCostly ? ['accept', 'defer_cold'] : [],
  };
}

/** A writer whose pauses end when the test says so. */
function aWriter({ isCostly = false, refuse = false } = {}) {
  const written: { readonly change: ChangeSelection; readonly isLast: boolean }[] = [];
  let due: (() => void) | undefined;
  const writer = new SelectionWriter({
    priced: () => Promise.resolve(aReply(isCostly)),
    write: (change, { isLast } = { isLast: false }) => {
      written.push({ change, isLast });
      return refuse ? Promise.reject(new Error('The store is full.')) : Promise.resolve();
    },
    changed: () => Promise.resolve(),
    after: (_ms, then) => {
      due = then;
      return () => (due = undefined);
    },
  });
  return { writer, written, pass: () => due?.(), isDue: () => due !== undefined };
}

describe('a writer of choices', () => {
  it('makes one write of switches in a row, once nothing more is switched', async () => {
    const { writer, written, pass } = aWriter();
    writer.change(off('web'));
    writer.change(off('mail'));
    assert.deepEqual([written, writer.view.unsaved], [[], joined(off('web'), off('mail'))]);
    pass();
    assert.equal(await writer.flush(), true);
    assert.deepEqual(written, [{ change: joined(off('web'), off('mail')), isLast: false }]);
    assert.equal(writer.view.unsaved, undefined);
  });

  it('waits for nothing when something is to be sent', async () => {
    const { writer, written, isDue } = aWriter();
    writer.change(off('web'));
    await writer.flush();
    assert.deepEqual([written.length, isDue()], [1, false]);
  });

  it('puts back what the server did not take, and says why', async () => {
    const { writer } = aWriter({ refuse: true });
    writer.change(off('web'));
    await writer.flush();
    assert.equal(writer.view.unsaved, undefined);
    assert.match(writer.view.problem ?? '', /The store is full/);
  });

  it('writes nothing that costs before the person has decided, and with the decision then', async () => {
    const { writer, written } = aWriter({ isCostly: true });
    writer.change(off('web'));
    assert.equal(await writer.flush(), false);
    assert.deepEqual(written, []);
    await writer.decide('defer_cold', true);
    const wanted = { ...off('web'), decision: 'defer_cold', cache_policy: { capability_toggle: 'defer_cold' } };
    assert.deepEqual(written, [{ change: wanted, isLast: false }]);
    assert.equal(writer.view.costly, undefined);
  });

  it('leaves everything as it was when the person does', async () => {
    const { writer, written } = aWriter({ isCostly: true });
    writer.change(off('web'));
    await writer.flush();
    writer.leave();
    assert.deepEqual([await writer.flush(), written, writer.view.unsaved], [true, [], undefined]);
  });

  it('sends what is left when the page goes away, without a decision on what it costs', () => {
    const { writer, written, isDue } = aWriter();
    writer.change(off('web'));
    writer.letGo();
    assert.deepEqual([written, isDue()], [[{ change: off('web'), isLast: true }], false]);
  });
});
