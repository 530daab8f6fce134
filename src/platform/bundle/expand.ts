import type { Environment } from './environment.ts';
import type { Path } from '../../assembly/resolve.ts';
import type { Problems } from './problems.ts';
import type { MapString } from './yaml.ts';

/** An escape, or a variable up to its bracket, or a dollar and bracket that is neither. */
const VARIABLE = /\$\$\{|\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}|\$\{/g;

export interface Expansion {
  readonly mapString: MapString;
  /** What the file says where a variable was put in: secrets must not be quoted in an error. */
  readonly written: (path: Path) => string | undefined;
  /** A variable in it is not set: what is there stands for nothing. */
  readonly isMissing: (path: Path) => boolean;
}

/**
 * Puts variables into strings: `${NAME}`, `${NAME:-default}` when it is unset or empty, `$${` for the two characters.
 *
 * What is put in is not looked at again. A missing variable is added to `problems`.
 */
export function expansion(environment: Environment, problems: Problems): Expansion {
  const written = new Map<string, string>();
  const missing = new Set<string>();
  return {
    isMissing: (path) => missing.has(JSON.stringify(path)),
    written: (path) => written.get(JSON.stringify(path)),
    mapString(text, path, place) {
      if (!text.includes('${')) return text;
      const escape = 'write $${ for the two characters themselves';
      const expanded = text.replace(VARIABLE, (match, name: string | undefined, fallback: string | undefined) => {
        if (match === '$${') return '${';
        if (name === undefined) {
          problems.add('bundle_invalid', {
            place: place(),
            found: '${ without a variable',
            wanted: '${NAME} or ${NAME:-default}',
            hint: escape,
          });
          return match;
        }
        const value = Object.hasOwn(environment, name) ? environment[name] : undefined;
        if (fallback !== undefined) return value === undefined || value === '' ? fallback : value;
        if (value === undefined) {
          missing.add(JSON.stringify(path));
          problems.add('bundle_env_missing', {
            place: place(),
            found: `\${${name}}, which is not set`,
            hint: `set ${name}, or give a default: \${${name}:-default}, or ${escape}`,
          });
        }
        return value ?? '';
      });
      written.set(JSON.stringify(path), text);
      return expanded;
    },
  };
}
