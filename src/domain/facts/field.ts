import { z } from 'zod';

export const text = z.string();
export const count = z.number().int().min(0);

/** Id of an action. */
export const action = text;

/** Who did it: a user id, `operator`, or the id of the plugin. */
export const by = text;

/** Facts by type: the version and schema of the payload, and when it is stated. */
export type FactTable = Readonly<Record<string, { v: number; payload: z.ZodType; about: string }>>;
