import { z } from 'zod';
import { shortDigest } from '../base/digest.ts';
import { canonicalJson } from '../base/json.ts';
import { json } from './content.ts';

/** How far a yes reaches: to this one action, to the end of the conversation, or until its user takes it back. */
export const ALLOW_SCOPES = ['once', 'conversation', 'always'] as const;
export type AllowScope = (typeof ALLOW_SCOPES)[number];
export const STANDING_SCOPES = ['conversation', 'always'] as const;
export type StandingScope = (typeof STANDING_SCOPES)[number];

/** What one gate takes a yes to be about: of two actions with the same subject, the yes to one is a yes to the other. */
const cover = z.strictObject({ gate: z.string(), subject: json });

/** What a request offers beyond this one action. */
export const allowanceOffer = z.strictObject({
  scopes: z.array(z.enum(STANDING_SCOPES)),
  tool: z.string(),
  /** SHA-256 of how the tool is described. Described otherwise, it is another tool, and nobody has allowed that. */
  described: z.string(),
  covers: z.array(cover),
  /** The same for people. */
  about: z.string(),
});
export type AllowanceOffer = z.infer<typeof allowanceOffer>;

/** A person's yes to more than one action: to every one of a tool that the gates take to be about the same. */
export const allowance = allowanceOffer.omit({ scopes: true }).extend({
  id: z.string(),
  scope: z.enum(STANDING_SCOPES),
  /** Who said yes. */
  by: z.string(),
  /** When, in milliseconds since 1970. */
  at: z.number(),
});
export type Allowance = z.infer<typeof allowance>;

/** The same answer makes the same allowance, however often it is taken in. */
export function allowanceId(conversationId: string, request: string): string {
  return `allow_${shortDigest(`${conversationId}/${request}`)}`;
}

/** The allowances that cover an action, one for each gate that held it; undefined when a gate is left over. */
export function covering(
  { tool, described, covers }: Pick<AllowanceOffer, 'tool' | 'described' | 'covers'>,
  allowances: readonly Allowance[],
): readonly Allowance[] | undefined {
  const standing = allowances.filter((one) => one.tool === tool && one.described === described);
  const found = new Set<Allowance>();
  for (const { gate, subject } of covers) {
    const wanted = canonicalJson(subject);
    const covered = standing.find((one) =>
      one.covers.some((each) => each.gate === gate && canonicalJson(each.subject) === wanted),
    );
    if (covered === undefined) return undefined;
    found.add(covered);
  }
  return found.size === 0 ? undefined : [...found];
}
