import { isoTime, type Instant } from '../../base/clock.ts';

/** A time that was read: the instant, and what the reader should know of it. */
export type ReadTime =
  | { readonly ok: true; readonly at: Instant; readonly note?: string }
  | { readonly ok: false; readonly problem: string };

const ISO = new RegExp(
  String.raw`^(?<date>\d{4}-\d\d-\d\d)(?:[T ](?<minute>\d\d:\d\d)(?::(?<second>\d\d)(?:[.,](?<fraction>\d{1,9}))?)?)?` +
    String.raw` ?(?<offset>Z|[+-]\d\d:?\d\d)?$`,
  'i',
);
const DAY_MS = 86_400_000;

export function isZone(name: string): boolean {
  try {
    format(name);
    return true;
  } catch {
    return false; // a RangeError is how Intl says that it does not know the name
  }
}

/** `2026-11-30T13:05:12+01:00`, to the second. */
export function localTime(at: Instant, zone: string): string {
  const offset = offsetOf(at, zone);
  const wall = isoTime(at + offset).slice(0, -'.000Z'.length);
  return zone === 'UTC' ? `${wall}Z` : `${wall}${offsetText(offset)}`;
}

export function weekday(at: Instant, zone: string): string {
  return new Intl.DateTimeFormat('en', { timeZone: zone, weekday: 'long' }).format(at);
}

/**
 * Reads ISO 8601. A time without an offset is what clocks on the wall of `zone` show.
 *
 * A time that clocks show twice is the first of the two, and a note says so; one that they skip is a problem.
 */
export function readTime(text: string, zone: string): ReadTime {
  const { date, minute = '00:00', second = '00', fraction = '', offset } = ISO.exec(text.trim())?.groups ?? {};
  const millisecond = fraction.slice(0, 3).padEnd(3, '0');
  const iso = `${date ?? ''}T${minute}:${second}.${millisecond}Z`;
  const wall = date === undefined ? NaN : Date.parse(iso);
  // Date.parse takes the 30th of February for the 2nd of March.
  if (Number.isNaN(wall) || isoTime(wall) !== iso) {
    return {
      ok: false,
      problem: `${JSON.stringify(text)} is not a time. Write 2026-03-29, 2026-03-29T14:30 or 2026-03-29T14:30:00+02:00.`,
    };
  }
  if (offset !== undefined) return { ok: true, at: wall - offsetMs(offset) };
  const [first, again] = instantsOf(wall, zone);
  if (first === undefined) {
    return { ok: false, problem: `${text} does not exist in ${zone}: clocks are put forward over it.` };
  }
  if (again === undefined) return { ok: true, at: first };
  return { ok: true, at: first, note: `clocks in ${zone} show ${text} twice that day; this is the first time` };
}

/** The instants at which clocks in `zone` show `wall`, the earliest first: one, none or two. */
function instantsOf(wall: number, zone: string): readonly Instant[] {
  const offsets = new Set([offsetOf(wall - DAY_MS, zone), offsetOf(wall + DAY_MS, zone)]);
  return [...offsets]
    .map((offset) => wall - offset)
    .filter((at) => at + offsetOf(at, zone) === wall)
    .sort((left, right) => left - right);
}

/** Milliseconds that clocks in `zone` are ahead of UTC. */
function offsetOf(at: Instant, zone: string): number {
  const shown = new Map(
    format(zone)
      .formatToParts(at)
      .map(({ type, value }) => [type, Number(value)]),
  );
  const part = (type: Intl.DateTimeFormatPartTypes) => shown.get(type) ?? 0;
  const wall = Date.UTC(part('year'), part('month') - 1, part('day'), part('hour'), part('minute'), part('second'));
  return wall - Math.floor(at / 1_000) * 1_000;
}

const formats = new Map<string, Intl.DateTimeFormat>();

function format(zone: string): Intl.DateTimeFormat {
  const known = formats.get(zone);
  if (known !== undefined) return known;
  const made = new Intl.DateTimeFormat('en', {
    timeZone: zone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  });
  formats.set(zone, made);
  return made;
}

function offsetMs(text: string): number {
  if (/z/i.test(text)) return 0;
  const [hours, minutes] = [text.slice(1, 3), text.slice(-2)].map(Number);
  return (text.startsWith('-') ? -1 : 1) * ((hours ?? 0) * 60 + (minutes ?? 0)) * 60_000;
}

function offsetText(offset: number): string {
  const minutes = Math.round(Math.abs(offset) / 60_000);
  const two = (value: number) => String(value).padStart(2, '0');
  return `${offset < 0 ? '-' : '+'}${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`;
}
