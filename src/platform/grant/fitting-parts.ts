import { isObject, type Json } from '../../base/json.ts';
import type { Path } from '../../assembly/resolve.ts';
import { bundle, type Bundle } from '../../domain/bundle.ts';
import { misfits } from '../../adapters/schema/wording.ts';

/** Parts that are left out before the rest is given up. */
const MOST_LEFT_OUT = 50;

/** The parts of a bundle that fit the schema. */
export interface FittingParts {
  readonly bundle: Bundle;
  /** Where the file has what these parts have at a path: an entry moves up when one before it was left out. */
  readonly real: (path: Path) => Path;
}

/** Leaves out what does not fit, part by part, until the rest fits; undefined when hardly anything does. */
export function fittingParts(value: Json): FittingParts | undefined {
  const rest: unknown = structuredClone(value);
  const places = new Map<unknown, number[]>(); // by list: where its entries were
  for (let count = 0; count <= MOST_LEFT_OUT; count++) {
    const parsed = bundle.safeParse(rest, { reportInput: true });
    if (parsed.success) return { bundle: parsed.data, real: (path) => realPath(rest, places, path) };
    const [first] = misfits(parsed.error.issues);
    if (first === undefined || !leaveOut(rest, first.path as Path, places)) return undefined; // JSON has no symbols for keys
  }
  return undefined;
}

/** What is missing cannot be left out: then what misses it is. */
function leaveOut(rest: unknown, path: Path, places: Map<unknown, number[]>): boolean {
  for (let length = path.length; length > 0; length--) {
    const above = path.slice(0, length - 1).reduce(inside, rest);
    const last = path[length - 1] ?? '';
    if (Array.isArray(above) && typeof last === 'number' && last < above.length) {
      const indexes = places.get(above) ?? above.map((_, index) => index);
      indexes.splice(last, 1);
      places.set(above, indexes);
      above.splice(last, 1);
      return true;
    }
    if (isObject(above) && Object.hasOwn(above, last)) return Reflect.deleteProperty(above, last);
  }
  return false;
}

function realPath(rest: unknown, places: ReadonlyMap<unknown, readonly number[]>, path: Path): Path {
  let here = rest;
  return path.map((part) => {
    const real = typeof part === 'number' ? places.get(here)?.[part] : undefined;
    here = inside(here, part);
    return real ?? part;
  });
}

function inside(value: unknown, part: string | number): unknown {
  if (Array.isArray(value)) return typeof part === 'number' ? (value as readonly unknown[])[part] : undefined;
  return isObject(value) && Object.hasOwn(value, part) ? value[part] : undefined;
}
