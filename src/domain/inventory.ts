import { z } from 'zod';
import { key, refuse, requiredKey } from './bundle-key.ts';
import { mcpService } from './mcp.ts';
import { namedService, namespace, operationName } from './service.ts';
import { DEFAULT_GALLERY_CHARS } from './skill.ts';
import { effect } from './tool.ts';

const traits = z
  .strictObject({
    effect: key(effect, 'What a repetition would do to the world.', { otherwise: "the tool's own" }),
    approval: key(z.enum(['never', 'ask']), '`ask`: a person is asked before every run.', {
      otherwise: "the tool's own",
    }),
    timeout_ms: key(z.int().min(0).max(86_400_000), 'Milliseconds that this tool may take. 0: as long as it wants.', {
      otherwise: "the tool's own",
    }),
    repeatable: key(z.boolean(), 'Calling it again with the same arguments is no loop.', {
      otherwise: "the tool's own",
    }),
    defer: key(z.boolean(), 'It is not in the prompt: the model finds it by a search when it needs it.', {
      otherwise: 'as its entry says',
    }),
  })
  .meta({ id: 'traits' });
export type Traits = z.infer<typeof traits>;

const need = z
  .strictObject({
    provider: requiredKey(z.string().min(1), 'The connected account that is needed.'),
    claims: requiredKey(z.array(z.string().min(1)).min(1), 'The rights that are needed in it, all of them.'),
  })
  .meta({ id: 'need' });

const granted = {
  name: requiredKey(z.string().min(1), 'What people call the group.'),
  alias: key(z.string().regex(/^[A-Za-z0-9_-]{1,48}$/), 'What selections and prompts call the group.', {
    otherwise: 'the name',
  }),
  allowed: key(z.array(z.string().min(1)), 'The tools of the group that are granted.', { otherwise: 'all of them' }),
  tool_traits: key(z.record(z.string(), traits), 'By tool: traits that stand over its own.'),
  tool_claims: key(z.record(z.string(), need), 'By tool: rights in a connected account without which it is inactive.'),
  defer: key(
    z.boolean(),
    'Its tools are not in the prompt: the model finds them by a search when it needs one, and coming and going they make no prompt cold.',
    { otherwise: '`true` where the agent has more tools than `defer_over` of its `cache` says' },
  ),
};

const host = z.string().regex(/^(\*\.)?[A-Za-z0-9.:[\]-]+$/);

const network = z
  .strictObject({
    allow_hosts: key(z.array(host), 'Hosts, with or without a port, that may have private addresses.', {
      otherwise: 'none',
    }),
    only_hosts: key(z.array(host), 'The only hosts that are asked; `*.example.com` is every name under it.', {
      otherwise: 'the public internet',
    }),
    max_bytes: key(z.int().min(1_024).max(268_435_456), 'Bytes of one reply; a longer one is refused.', {
      default: 8_388_608,
    }),
  })
  .meta({ id: 'network' });

const folder = z
  .strictObject({
    root: key(z.string().min(1), 'The folder, from the folder of the bundle. Nothing outside of it is reached.', {
      otherwise: 'where Treadle was started',
    }),
    read_only: key(z.boolean(), 'Nothing is written there.', { default: false }),
    ignore: key(
      z.array(z.string().min(1)).max(200),
      'Patterns of a `.gitignore`: what is neither read nor written nor listed. `.treadle` never is.',
      { otherwise: 'none' },
    ),
    max_bytes: key(z.int().min(1_024).max(268_435_456), 'Bytes of a file that is read or written.', {
      default: 10_485_760,
    }),
  })
  .meta({ id: 'folder' });

const moduleTools = z.strictObject({
  kind: requiredKey(z.literal('module'), 'Tools written for Treadle.'),
  ...granted,
  module: requiredKey(
    z.string().min(1),
    '`builtin/` and a group, a file in the folder of the bundle such as `./tools/notes.ts`, or an npm package.',
  ),
  config: key(z.record(z.string(), z.unknown()), 'Settings of a built-in group that has some.', {
    otherwise: "the group's own",
  }),
  fetch: key(network, 'Where its tools may send requests besides the public internet.'),
  files: key(folder, 'The folder that its tools work in.', { otherwise: 'none, unless the group works in one' }),
  secrets: key(
    z.record(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]{0,63}$/), z.string().min(1)),
    'By name: what its tools are handed as `context.secrets`, best from variables. Taken out of all that they say.',
    { otherwise: 'none' },
  ),
});

const pythonTools = z
  .strictObject({
    kind: requiredKey(z.literal('python'), 'A tool group of a KDCube bundle, mapped to a built-in group of that name.'),
    ...granted,
    module: key(z.string().min(1), 'A Python module whose name ends in the name of a built-in group.'),
    ref: key(z.string().min(1), 'The same as a path.'),
  })
  .superRefine(({ module, ref }, context) => {
    if ((module === undefined) !== (ref === undefined)) return;
    const found = module === undefined ? 'neither module nor ref' : 'both module and ref';
    refuse(context, { code: 'bundle_conflict', found, wanted: 'one of the two' });
  });

const mcpTools = z.strictObject({
  kind: requiredKey(z.literal('mcp'), 'The tools of an MCP server.'),
  ...granted,
  server_id: key(z.string().min(1), 'The server, by its id in `surfaces.as_consumer.mcp.services`.', {
    otherwise: 'the name',
  }),
  tool_traits: key(
    z.record(z.string(), traits),
    'By tool, as the server calls it, or `*` for all of them: traits that stand over what the server says.',
  ),
});

const exclusion = z
  .strictObject({
    reason: requiredKey(z.string().min(1), 'Why, as a sentence for people.'),
    agent_hint: key(z.string().min(1), 'What the model may do instead.'),
  })
  .meta({ id: 'exclusion' });

const namespaceGrant = z
  .strictObject({
    allowed: key(z.array(operationName), 'The operations that are granted.', { otherwise: 'all of them' }),
    excluded: key(z.record(operationName, exclusion), 'By operation: left out on purpose, and why.'),
    tool_traits: key(z.record(z.string(), traits), 'By operation, or `*` for all: traits that stand over its own.'),
    tool_claims: key(
      z.record(z.string(), need),
      'By operation, or `*` for all: rights in a connected account without which it is inactive.',
    ),
    defer: key(z.boolean(), 'Its operations are not in the prompt: the model finds them by a search.', {
      otherwise: '`true` where the agent has more tools than `defer_over` of its `cache` says',
    }),
  })
  .meta({ id: 'namespace' });
export type NamespaceGrant = z.infer<typeof namespaceGrant>;

const serviceTools = z.strictObject({
  kind: requiredKey(z.literal('named_service'), 'The operations of services, a tool each.'),
  name: requiredKey(z.string().min(1), 'What people call the entry.'),
  alias: key(z.string().regex(/^[A-Za-z0-9_-]{1,48}$/), 'Another word for the name.', { otherwise: 'the name' }),
  namespaces: requiredKey(
    z.record(namespace, namespaceGrant),
    'By namespace, as `surfaces.as_consumer.named_services` has it: what is granted of it.',
  ),
});

export type ModuleTools = z.infer<typeof moduleTools>;
export type PythonTools = z.infer<typeof pythonTools>;
export type McpTools = z.infer<typeof mcpTools>;
export type ServiceTools = z.infer<typeof serviceTools>;
/** An entry that stands for one group of tools. */
export type GroupEntry = ModuleTools | PythonTools | McpTools;
export type ToolsEntry = GroupEntry | ServiceTools;

const toolsEntry = z
  .discriminatedUnion('kind', [moduleTools, pythonTools, mcpTools, serviceTools])
  .meta({ id: 'tools' });

/** Patterns of ids: an id, or one with `*` for any part of it. */
const patterns = z.array(z.string().min(1));

const visibility = z
  .strictObject({
    enabled: key(patterns, 'Skills that are seen: ids such as `public.notes`, `*` for any part of one.', {
      otherwise: 'all of them',
    }),
    disabled: key(patterns, 'Skills that are not seen, of those.'),
  })
  .meta({ id: 'visibility' });

const skills = z.strictObject({
  custom_root: key(
    z.string().min(1),
    'Folder in the folder of the bundle that holds skills, a folder with a SKILL.md each.',
  ),
  shipped: key(z.array(z.string().min(1)), 'Skills that come with Treadle, by name.', { otherwise: 'none' }),
  consumers: key(
    z.record(z.string(), visibility),
    'By agent, by the role that decides, or `*`: which skills it sees. `*` can only take away.',
  ),
  gallery_chars: key(
    z.int().min(500).max(200_000),
    'Characters that the list of skills may have in the prompt. What does not fit is found with skills_search.',
    { default: DEFAULT_GALLERY_CHARS },
  ),
});

const eventSource = z
  .strictObject({
    kind: requiredKey(z.literal('named_service'), 'A service that the agent is granted.'),
    namespace: requiredKey(namespace, 'Which one. While a user has switched it off, nothing is heard from it.'),
    enabled: key(z.boolean(), 'Whether it is heard.', { default: true }),
    discovery: key(
      z.strictObject({
        mode: requiredKey(z.literal('service_discovery'), 'The service is the one of `named_services`: the only way.'),
      }),
      'How the service is found.',
    ),
    policies: key(
      z
        .strictObject({
          pull: key(
            z.strictObject({
              mode: key(z.literal('provider'), 'The service is asked: the only way.', { default: 'provider' }),
              operation: key(
                operationName,
                'What is asked for events when a turn begins. It is given `cursor`, where there is one, and `limit`, and answers `{events: [{id, text, at}], cursor}`.',
                { default: 'event.list' },
              ),
              max_events: key(z.int().min(1).max(100), 'Events that one turn takes.', { default: 20 }),
              max_bytes: key(z.int().min(200).max(100_000), 'Bytes that these may have together.', { default: 8_192 }),
              timeout_ms: key(z.int().min(100).max(30_000), 'Milliseconds after which the turn begins without.', {
                default: 3_000,
              }),
            }),
            'Asks the service when a turn begins. Absent: it is not asked.',
          ),
          push: key(z.boolean(), 'Whether events may be handed in through the API.', { default: true }),
        })
        .meta({ id: 'event_policies' }),
      'How events come.',
      { otherwise: 'they are handed in' },
    ),
  })
  .meta({ id: 'event_source' });
export type DeclaredEventSource = z.infer<typeof eventSource>;

/** What the operator lets one agent use: `config.surfaces.as_consumer.agents.<agent>`. */
export const inventory = z
  .strictObject({
    tools: key(z.array(toolsEntry).max(200), 'The tool groups that the agent is granted.', { otherwise: 'none' }),
    skills: key(skills, 'The skills that the agent is granted.', { otherwise: 'none' }),
    event_sources: key(z.array(eventSource).max(20), 'Services that the agent hears from.', { otherwise: 'none' }),
  })
  .meta({ id: 'inventory' });
export type Inventory = z.infer<typeof inventory>;

export const surfaces = z
  .strictObject({
    as_consumer: key(
      z.strictObject({
        default_agent: key(z.string().min(1), 'The agent that answers when none is named.', {
          otherwise: '`main`, else the first',
        }),
        agents: key(z.record(z.string(), inventory), 'By agent, `default_agent` or `default`: the grant.'),
        mcp: key(
          z.strictObject({
            services: key(
              z.record(z.string().regex(/^[A-Za-z0-9_.-]{1,64}$/), mcpService),
              'By id: how a server is reached.',
            ),
          }),
          'MCP servers that entries of kind `mcp` name. They take a package of its own: `npm install @modelcontextprotocol/client`.',
        ),
        named_services: key(z.record(namespace, namedService), 'By namespace: who provides it.'),
      }),
      'What the agents of this bundle use.',
    ),
  })
  .meta({ id: 'surfaces' });
export type Surfaces = z.infer<typeof surfaces>;
