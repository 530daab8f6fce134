import { z } from 'zod';
import { defineTool, toolFailure, type BuiltinGroup } from '../../kernel/tool.ts';
import type { ToolContext } from '../../kernel/running-tool.ts';
import { isZone, localTime, readTime, weekday } from './zoned-time.ts';

const zone = z.string().min(1).max(64);
const time = z.string().min(1).max(64).describe('ISO 8601, such as 2026-03-29T02:30 or 2026-03-29T02:30:00+01:00');

const timeNow = defineTool({
  name: 'time_now',
  description: 'The time now, in UTC and in a time zone. Without a zone: in the zone of the person.',
  input: z.strictObject({ zone: zone.optional().describe('IANA name, such as Europe/Berlin') }),
  effect: 'read',
  repeatable: true,
  run({ zone }, context) {
    const where = zone ?? homeZone(context);
    return isZone(where) ? inZone(context.now(), where) : unknownZone(where);
  },
});

const timeConvert = defineTool({
  name: 'time_convert',
  description: 'What a time in one zone is in another, with daylight saving time as it is on that day.',
  input: z.strictObject({
    time,
    from_zone: zone.optional().describe('IANA name. Needed when the time has no offset; without it: UTC.'),
    to_zone: zone.describe('IANA name, such as America/New_York'),
  }),
  effect: 'read',
  run({ time, from_zone = 'UTC', to_zone }) {
    const bad = [from_zone, to_zone].find((one) => !isZone(one));
    if (bad !== undefined) return unknownZone(bad);
    const read = readTime(time, from_zone);
    if (!read.ok) return toolFailure('time', read.problem);
    const converted = inZone(read.at, to_zone);
    return read.note === undefined ? converted : { ...converted, note: read.note };
  },
});

const timeDifference = defineTool({
  name: 'time_difference',
  description:
    'How long it is from one time to another; negative when the second is earlier. Without a time of day: midnight.',
  input: z.strictObject({
    from: time,
    to: time,
    zone: zone.optional().describe('IANA name, for times without an offset. Without it: the zone of the person.'),
  }),
  effect: 'read',
  run({ from, to, zone }, context) {
    const where = zone ?? homeZone(context);
    if (!isZone(where)) return unknownZone(where);
    const start = readTime(from, where);
    if (!start.ok) return toolFailure('time', start.problem);
    const end = readTime(to, where);
    if (!end.ok) return toolFailure('time', end.problem);
    const seconds = (end.at - start.at) / 1_000;
    return { seconds, text: duration(seconds) };
  },
});

/** Clocks and calendars. */
export const timeGroup: BuiltinGroup = { name: 'time', locked: false, tools: [timeNow, timeConvert, timeDifference] };

function homeZone({ conversation }: ToolContext): string {
  return conversation.turn?.agent.timeZone ?? 'UTC';
}

function inZone(at: number, where: string): { utc: string; local: string; zone: string; weekday: string } {
  return { utc: localTime(at, 'UTC'), local: localTime(at, where), zone: where, weekday: weekday(at, where) };
}

function unknownZone(found: string) {
  return toolFailure(
    'zone',
    `${JSON.stringify(found)} is not an IANA time zone. Write one such as Europe/Berlin, America/New_York or UTC.`,
  );
}

/** `-2 days 3 hours 5 seconds`: days of 24 hours, parts that are zero left out. */
function duration(seconds: number): string {
  let left = Math.abs(seconds);
  const parts: string[] = [];
  for (const [name, size] of [
    ['day', 86_400],
    ['hour', 3_600],
    ['minute', 60],
    ['second', 1],
  ] as const) {
    const count = size === 1 ? left : Math.floor(left / size);
    left -= count * size;
    if (count > 0) parts.push(`${count} ${name}${count === 1 ? '' : 's'}`);
  }
  return `${seconds < 0 ? '-' : ''}${parts.length === 0 ? '0 seconds' : parts.join(' ')}`;
}
