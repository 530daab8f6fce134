import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MIGRATIONS } from '../../src/adapters/stores/sqlite/sql.ts';
import { payloadOf } from '../../src/adapters/stores/stored.ts';
import { upcast, upcasters, type Upcasters } from '../../src/adapters/stores/upcast.ts';
import { sha256 } from '../../src/base/digest.ts';
import { isObject, type Json } from '../../src/base/json.ts';
import { facts, type FactType } from '../../src/domain/event.ts';

const place = () => 'here';

/** `io.output` once called its text `answer`, and before that it was a plain string. */
const steps: Upcasters = {
  'io.output': {
    [-1]: (payload: Json) => ({ answer: payload }),
    0: (payload: Json) => ({ text: isObject(payload) ? (payload['answer'] ?? null) : null }),
  },
};

test('a payload of an old version is read as one of the present', () => {
  assert.deepEqual(payloadOf('io.output', 0, '{"answer":"42"}', place, steps), { text: '42' });
  assert.deepEqual(payloadOf('io.output', -1, '"42"', place, steps), { text: '42' });
  assert.deepEqual(payloadOf('io.output', 1, '{"text":"42"}', place, steps), { text: '42' });
});

test('a version that nothing reads, and a step that yields nonsense, are corruption with a place', () => {
  const corrupt = { code: 'log_corrupt', detail: { place: 'here' } };
  for (const [v, text] of [
    [-2, '1'],
    [-1, '1'],
  ] as const) {
    assert.throws(
      () => payloadOf('io.output', v, text, place, steps),
      (problem: typeof corrupt) => {
        assert.deepEqual([problem.code, problem.detail.place], [corrupt.code, corrupt.detail.place]);
        return true;
      },
    );
  }
});

test('every version of every fact so far can be read', () => {
  for (const type of Object.keys(facts) as FactType[]) {
    for (let v = 1; v < facts[type].v; v++) {
      assert.ok(upcasters[type]?.[v] !== undefined, `version ${v} of ${type} has no step to the next`);
    }
    assert.deepEqual(upcast(type, { any: 1 }, facts[type].v, facts[type].v), { any: 1 });
  }
});

test('a migration that was released is never changed', () => {
  // To change the tables, add a migration and its digest.
  const released = ['ebc21d6976738fa2', '0b67d415ab422f02', 'e3fa7fde748e73db'];
  assert.deepEqual(
    MIGRATIONS.map((step) => sha256(step).slice(0, 16)),
    released,
  );
});
