import { z } from 'zod';

/** What a model is shown of a skill before it loads it. */
export const shownSkill = z.strictObject({
  /** `public.docx-press`: namespace and name. What selections name. */
  id: z.string(),
  description: z.string(),
  /** Of its text: a skill that was edited is another one. */
  digest: z.string(),
});
export type ShownSkill = z.infer<typeof shownSkill>;

/** Names by the Agent Skills format: a folder of this name holds the skill. */
export const SKILL_NAME = /^[a-z0-9]+(-[a-z0-9]+)*$/;
export const LONGEST_SKILL_NAME = 64;
export const LONGEST_SKILL_DESCRIPTION = 1_024;

/** The group of the tools that read skills: there with the first skill, and locked like every system group. */
export const SKILLS_GROUP = 'skills';

/** Characters that the list of skills may have where the bundle does not say. */
export const DEFAULT_GALLERY_CHARS = 8_192;
