import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readTime } from '../../src/plugins/tools/zoned-time.ts';
import { timeGroup } from '../../src/plugins/tools/time.ts';
import { runTool } from '../support/tool-context.ts';

const NOON = Date.UTC(2026, 10, 30, 12, 5, 7, 250);

test('the time now comes from the clock of the context, in the zone that was asked for', async () => {
  assert.deepEqual(await runTool(timeGroup, 'time_now', { zone: 'Europe/Berlin' }, { now: () => NOON }), {
    utc: '2026-11-30T12:05:07Z',
    local: '2026-11-30T13:05:07+01:00',
    zone: 'Europe/Berlin',
    weekday: 'Monday',
  });
  const here = (await runTool(timeGroup, 'time_now', {}, { now: () => NOON })) as { zone: string };
  assert.equal(here.zone, 'UTC');
});

test('a time is converted with the offset of that day, on both sides of a change of clocks', async () => {
  const conversions: readonly (readonly [time: string, from: string | undefined, to: string, local: string])[] = [
    ['2026-07-01T12:00', 'Europe/Berlin', 'America/New_York', '2026-07-01T06:00:00-04:00'],
    ['2026-03-20T12:00', 'Europe/Berlin', 'America/New_York', '2026-03-20T07:00:00-04:00'],
    ['2026-03-29T01:59:59', 'Europe/Berlin', 'UTC', '2026-03-29T00:59:59Z'],
    ['2026-03-29T03:00', 'Europe/Berlin', 'UTC', '2026-03-29T01:00:00Z'],
    ['2026-12-31 23:30', 'America/New_York', 'Asia/Tokyo', '2027-01-01T13:30:00+09:00'],
    ['2026-01-01T00:00:00+05:45', undefined, 'Asia/Kolkata', '2025-12-31T23:45:00+05:30'],
    ['2026-01-01T00:00:00-0330', undefined, 'UTC', '2026-01-01T03:30:00Z'],
    ['2026-01-01', undefined, 'Pacific/Apia', '2026-01-01T13:00:00+13:00'],
    ['2024-02-29T12:00', 'Australia/Lord_Howe', 'UTC', '2024-02-29T01:00:00Z'],
  ];
  for (const [time, from, to_zone, local] of conversions) {
    const given = from === undefined ? { time, to_zone } : { time, from_zone: from, to_zone };
    const converted = (await runTool(timeGroup, 'time_convert', given)) as { local: string };
    assert.equal(converted.local, local, time);
  }
});

test('a time that clocks show twice is the first, and says so; one that they skip does not exist', () => {
  const twice = readTime('2026-10-25T02:30', 'Europe/Berlin');
  assert.ok(twice.ok);
  assert.equal(new Date(twice.at).toISOString(), '2026-10-25T00:30:00.000Z');
  assert.match(twice.note ?? '', /twice that day; this is the first/);
  assert.deepEqual(readTime('2026-03-29T02:30', 'Europe/Berlin'), {
    ok: false,
    problem: '2026-03-29T02:30 does not exist in Europe/Berlin: clocks are put forward over it.',
  });
});

test('what is not a time or a zone is told with an example of one', async () => {
  for (const time of ['tomorrow', '2026-02-30', '2026-13-01', '2026-01-01T25:00', '2026-01-01T10', '1', '26-01-01']) {
    const read = readTime(time, 'UTC');
    assert.ok(!read.ok, time);
    assert.match(read.problem, /is not a time\. Write 2026-03-29/);
  }
  const failure = (await runTool(timeGroup, 'time_now', { zone: 'Mars/Olympus' })) as { message: string };
  assert.match(failure.message, /"Mars\/Olympus" is not an IANA time zone.*Europe\/Berlin/);
});

test('a difference is in seconds and in words, and negative when the second time is earlier', async () => {
  const differences: readonly (readonly [from: string, to: string, seconds: number, text: string])[] = [
    ['2026-01-01', '2026-01-01', 0, '0 seconds'],
    ['2026-01-01T00:00', '2026-01-02T03:04:05', 97_445, '1 day 3 hours 4 minutes 5 seconds'],
    ['2026-12-25', '2026-11-30', -2_160_000, '-25 days'],
    ['2026-01-01T00:00Z', '2026-01-01T00:00+01:00', -3_600, '-1 hour'],
    ['2026-01-01T00:00:00.25', '2026-01-01T00:00:01', 0.75, '0.75 seconds'],
  ];
  for (const [from, to, seconds, text] of differences) {
    assert.deepEqual(await runTool(timeGroup, 'time_difference', { from, to }), { seconds, text });
  }
  const across = await runTool(timeGroup, 'time_difference', {
    from: '2026-03-29',
    to: '2026-03-30',
    zone: 'Europe/Berlin',
  });
  assert.deepEqual(across, { seconds: 82_800, text: '23 hours' });
});
