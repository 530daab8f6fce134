import { z } from 'zod';

export const text = z.string();
export const count = z.number().int().min(0);

/** Id of an action. */
export const action = text;

/** What a program asked for, as it asked: a digest of the name and the arguments, by which a later run of it is known to do the same. */
export const call = text;

/** Who did it: a user id, `operator`, or the id of the plugin. */
export const by = text;

/** Facts by type: the version and schema of the payload, and when it is stated. */
export type FactTable = Readonly<Record<string, { v: number; payload: z.ZodType; about: string }>>;
