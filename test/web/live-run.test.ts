// What a tab knows of a run: a fold of the frames that reach it, however often and in whatever portions they come.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { Frame, WireEntry } from '../../web/api/types.ts';
import { emptyRun, heard } from '../../web/state/live-run.ts';

function entry(position: number, revision = position, text = `text ${position}.${revision}`): WireEntry {
  return {
    id: `e${position}`,
    digest: text,
    role: 'assistant',
    text,
    position,
    revision,
    at: '2026-01-01T00:00:00.000Z',
  };
}

const told = (one: WireEntry): Frame => ({ type: 'entry', entry: one, cursor: `c${one.revision}` });
const delta = (id: string, text: string, attempt = 1): Frame => ({
  type: 'delta',
  id,
  kind: 'text',
  attempt,
  delta: text,
});

function status(version: number, terminal = false): Frame {
  return {
    type: 'status',
    status: terminal ? 'completed' : 'running',
    statusKind: terminal ? 'ended' : 'working',
    terminal,
    needsInput: false,
    waitingOn: [],
    requests: [],
    version,
    cursor: `v${version}`,
  };
}

describe('a run in a tab', () => {
  it('has each entry once, in its newest form, in the order of the conversation', () => {
    const revised = fc.array(
      fc.record({ position: fc.integer({ min: 1, max: 12 }), times: fc.integer({ min: 1, max: 3 }) }),
    );
    fc.assert(
      fc.property(revised, fc.infiniteStream(fc.boolean()), (changes, repeats) => {
        let revision = 0;
        const newest = new Map<number, WireEntry>();
        const frames: Frame[] = [];
        for (const { position, times } of changes)
          for (let time = 0; time < times; time++) {
            const one = entry(position, ++revision);
            newest.set(position, one);
            frames.push(told(one));
            if (repeats.next().value) frames.push(told(one));
          }
        const wanted = [...newest.values()].sort((left, right) => left.position - right.position);
        assert.deepEqual(heard(emptyRun, frames).entries, wanted);
      }),
    );
  });

  it('comes to the same, whole or in portions', () => {
    const frames = [told(entry(1)), delta('e2', 'a'), delta('e2', 'b'), told(entry(3)), told(entry(2)), status(4)];
    const inPortions = frames.reduce((run, frame) => heard(run, [frame]), emptyRun);
    assert.deepEqual(inPortions, heard(emptyRun, frames));
  });

  it('goes on at the last cursor', () => {
    assert.equal(heard(emptyRun, [told(entry(1)), told(entry(2))]).cursor, 'c2');
  });

  it('puts pieces together until the entry is there', () => {
    const halfway = heard(emptyRun, [delta('e1', 'Hel'), delta('e1', 'lo')]);
    assert.deepEqual(
      halfway.drafts.map((one) => one.text),
      ['Hello'],
    );
    assert.deepEqual(heard(halfway, [told(entry(1))]).drafts, []);
  });

  it('forgets what an attempt said once another has begun', () => {
    const run = heard(emptyRun, [delta('e1', 'wrong'), delta('e1', 'right', 2), delta('e1', ' late')]);
    assert.deepEqual(
      run.drafts.map((one) => one.text),
      ['right'],
    );
  });

  it('ignores a piece of what is whole already', () => {
    assert.deepEqual(heard(emptyRun, [told(entry(1)), delta('e1', 'again')]).drafts, []);
  });

  it('leaves nothing half made when the turn has ended', () => {
    const run = heard(emptyRun, [delta('e1', 'never finished'), status(2, true)]);
    assert.deepEqual([run.drafts, run.activity], [[], undefined]);
  });

  it('keeps the newer of two states, whichever comes first', () => {
    assert.equal(heard(emptyRun, [status(5, true), status(4)]).status?.status, 'completed');
  });

  it('counts what a slow reader was not sent', () => {
    assert.equal(
      heard(emptyRun, [
        { type: 'gap', dropped: 3 },
        { type: 'gap', dropped: 2 },
      ]).dropped,
      5,
    );
  });
});
