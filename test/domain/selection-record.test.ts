import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  applied,
  deferred,
  emptyRecord,
  inForce,
  readRecord,
  rowOf,
  settled,
  type PendingChange,
  type Standing,
} from '../../src/domain/selection-record.ts';

const off = (group: string) => ({ disabled: { tools: { [group]: true as const } } });
const waiting = (id: string, more: Partial<PendingChange> = {}): PendingChange => ({
  id,
  apply: 'when_cold',
  patch: off('web'),
  at: 100,
  ...more,
});
const warm: Standing = { createdAt: 0, promoted: new Set(), isCold: false };
const names = (record: Parameters<typeof inForce>[0], standing: Standing) =>
  Object.keys(inForce(record, standing).selection.disabled.tools);

test('a change that waits for the cache counts once it is cold, and stays', () => {
  const record = deferred(emptyRecord, waiting('p1'));
  assert.deepEqual(names(record, warm), []);
  assert.deepEqual(names(record, { ...warm, isCold: true }), ['web']);
  assert.deepEqual(names(record, { ...warm, promoted: new Set(['p1']) }), ['web']);
});

test('a change that waits for the next conversation counts in those that were started later', () => {
  const record = deferred(emptyRecord, waiting('p1', { apply: 'next_conversation' }));
  assert.deepEqual(names(record, { ...warm, isCold: true, createdAt: 100 }), []);
  assert.deepEqual(names(record, { ...warm, createdAt: 101 }), ['web']);
});

test('what is said now stands over what waits, key by key', () => {
  const record = deferred(emptyRecord, waiting('p1', { patch: { disabled: { tools: { web: true, mail: true } } } }));
  const after = applied(record, { disabled: { tools: { web: false } } });
  assert.deepEqual(names(after, { ...warm, isCold: true }), ['mail']);
});

test('a second change that waits for the same joins the first, unless the first counts already', () => {
  const first = deferred(emptyRecord, waiting('p1'), new Set());
  const second = waiting('p2', { patch: off('mail') });
  assert.equal(deferred(first, second, new Set()).pending.length, 1);
  assert.equal(deferred(first, second, new Set(['p1'])).pending.length, 2);
  assert.equal(deferred(first, second).pending.length, 2);
});

test('what was promoted is taken into the record when it is next written', () => {
  const record = settled(deferred(emptyRecord, waiting('p1')), new Set(['p1']));
  assert.deepEqual([Object.keys(record.selection.disabled.tools), record.pending], [['web'], []]);
});

test('a stored row is read back as it was, and past what is not a change', () => {
  const record = deferred(emptyRecord, waiting('p1'));
  assert.deepEqual(readRecord(rowOf(record)), { ...record, ignored: [] });
  assert.deepEqual(readRecord({ pending: [{ id: 1 }] }).ignored, [
    'pending holds a change that is not of the known shape.',
  ]);
  assert.deepEqual(readRecord({ pending: 3 }).ignored, ['pending is not a list.']);
});
