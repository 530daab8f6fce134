import fc from 'fast-check';
import type { DeclaredAgent } from '../../src/assembly/effective.ts';
import { defaultLimits } from '../../src/domain/limits.ts';
import type { ToolDefinition } from '../../src/domain/tool.ts';
import type { Grant, GrantedTool } from '../../src/domain/grant.ts';
import { mergeSelection, type SelectionPatch } from '../../src/domain/selection-patch.ts';
import { emptySelection, type Selection } from '../../src/domain/selection.ts';

export function aTool(
  name: string,
  more: Partial<GrantedTool> & { readonly group?: string; readonly deferred?: boolean } = {},
): GrantedTool {
  const { group = 'web', deferred = false, ...rest } = more;
  const definition: ToolDefinition = {
    name,
    description: `Does ${name}.`,
    inputSchema: { type: 'object' },
    effect: 'read',
    ...(deferred ? { deferred: true as const } : {}),
    group,
  };
  return { definition, own: name, locked: false, ...rest };
}

export function aGrant(tools: readonly GrantedTool[], more: Partial<Grant> = {}): Grant {
  return {
    tools,
    unavailable: [],
    supportedModels: [],
    models: [{ provider: 'anthropic', model: 'sonnet' }],
    ...more,
  };
}

/** Few names, so that random records often hit what is granted. */
const names = ['read', 'write', 'search', '__proto__', 'constructor'];
const groups = ['io', 'web', 'constructor'];

const claim = fc.option(
  fc.record({ provider: fc.constantFrom('slack', 'mail'), claims: fc.subarray(['read', 'write'], { minLength: 1 }) }),
  { nil: undefined },
);

/** Any grant of distinct tools. The group `io` is locked. */
export const anyGrant: fc.Arbitrary<Grant> = fc
  .uniqueArray(
    fc.record({
      group: fc.constantFrom(...groups),
      own: fc.constantFrom(...names),
      needs: claim,
      deferred: fc.boolean(),
    }),
    { selector: ({ group, own }) => `${group}/${own}` },
  )
  .chain((members) =>
    fc.subarray(['sonnet', 'haiku', 'opus']).map((models) =>
      aGrant(
        members.map(({ group, own, needs, deferred }) =>
          aTool(`${group}_${own}`, { group, own, needs, locked: group === 'io', deferred: deferred && group !== 'io' }),
        ),
        { supportedModels: models.map((model) => ({ ref: { provider: 'anthropic', model }, label: model })) },
      ),
    ),
  );

const entry = fc.oneof(
  fc.constant(true),
  fc.constant(false),
  fc.array(fc.oneof(fc.constantFrom(...names, 'gone'), fc.integer())),
  fc.anything(),
);

/** Records as a store might hold them: well-formed, half-formed, and anything at all. */
export const anyRecord: fc.Arbitrary<unknown> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record(
      {
        schema_version: fc.constantFrom(1, 1, 1, 2),
        disabled: fc.oneof(
          fc.record(
            {
              tools: fc.dictionary(fc.constantFrom(...groups, 'gone', '__proto__'), entry),
              mcp: fc.dictionary(fc.constantFrom('knowledge'), entry),
              named_services: fc.dictionary(fc.constantFrom('task'), entry),
              skills: fc.oneof(fc.array(fc.string()), fc.anything()),
            },
            { requiredKeys: [] },
          ),
          fc.anything(),
        ),
        model: fc.oneof(
          fc.record({ provider: fc.constantFrom('anthropic', 'other'), model: fc.constantFrom('haiku', 'gone') }),
          fc.anything(),
        ),
        cache_policy: fc.anything(),
      },
      { requiredKeys: [] },
    ),
  },
  fc.anything(),
);

export const anyClaims = fc.dictionary(
  fc.constantFrom('slack', 'mail', '__proto__'),
  fc.subarray(['read', 'write', 'admin']),
);

const toggle = fc.oneof(fc.boolean(), fc.constant(null), fc.uniqueArray(fc.constantFrom(...names, 'gone')));
const toggles = fc.dictionary(fc.constantFrom(...groups, 'gone', '__proto__'), toggle);
const skillIds = fc.constantFrom('a', 'b', 'gone');

/** Changes as a user might ask for them. */
export const anyPatch: fc.Arbitrary<SelectionPatch> = fc.record(
  {
    disabled: fc.record(
      {
        tools: toggles,
        mcp: toggles,
        named_services: toggles,
        skills: fc.oneof(fc.uniqueArray(skillIds), fc.dictionary(skillIds, fc.boolean())),
      },
      { requiredKeys: [] },
    ),
    model: fc.option(
      fc.record({ provider: fc.constant('anthropic'), model: fc.constantFrom('haiku', 'sonnet', 'gone') }),
    ),
  },
  { requiredKeys: [] },
);

/** Selections as changes make them. */
export const anySelection: fc.Arbitrary<Selection> = fc
  .array(anyPatch, { maxLength: 3 })
  .map((patches) => patches.reduce(mergeSelection, emptySelection));

/** An agent as its operator declares it, with nothing of interest but its grant. */
export function declaredAgent(grant: Grant, frame: Partial<DeclaredAgent['frame']> = {}): DeclaredAgent {
  return {
    bundle: 'app',
    revision: 'r1',
    grant,
    role: 'balanced',
    frame: {
      id: 'main',
      grammar: 'native',
      limits: defaultLimits,
      onLimit: 'end',
      renderThinking: true,
      systemPrompt: 'You help.',
      additional: 'Cite sources.',
      ...frame,
    },
  };
}
