import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { TreadleError } from '../../base/errors.ts';
import { misfits } from '../../adapters/schema/wording.ts';
import { budgets, type Budgets } from './budgets.ts';

/** What users and tenants may spend, from a YAML or JSON file of the operator's. Throws `budgets_invalid`. */
export function readBudgets(file: string): Budgets {
  let value: unknown;
  try {
    value = parse(readFileSync(file, 'utf8')) ?? {};
  } catch (cause) {
    const found = cause instanceof Error ? cause.message : String(cause);
    throw new TreadleError('budgets_invalid', { place: file, found, wanted: 'a YAML or JSON file', cause });
  }
  const parsed = budgets.safeParse(value, { reportInput: true });
  if (parsed.success) return parsed.data;
  const [first] = misfits(parsed.error.issues);
  const at = first?.path.map(String).join('.') ?? '';
  throw new TreadleError('budgets_invalid', {
    place: at === '' ? file : `${file}  ${at}`,
    found: first?.unknownKey === undefined ? first?.found : `a key that nothing reads`,
    wanted:
      first?.unknownKey === undefined
        ? first?.wanted
        : 'user, tenant, users, tenants; in each day and month; in those calls, actions, tokens and money',
  });
}
