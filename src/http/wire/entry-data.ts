/** What stands in `data` of an entry, by its role: types alone, since clients read what they need of it. */
export type { ActionData, CallAttempt, CallData } from '../../domain/entry.ts';
