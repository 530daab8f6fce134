// docs/tools.md, made of the built-in groups.
import { z } from 'zod';
import { isObject, type JsonObject } from '../../src/base/json.ts';
import type { BuiltinGroup, ToolSpec } from '../../src/kernel/tool.ts';
import { builtinGroups } from '../../src/platform/bundle/builtins.ts';
import { agentGroup } from '../../src/plugins/tools/agent.ts';
import { planGroup } from '../../src/plugins/tools/plan.ts';
import { jsonType } from './shape.ts';
import { code, generated, table } from './table.ts';

export function renderToolsDoc(): string {
  const groups = [...builtinGroups.values(), agentGroup(['researcher', 'writer']), planGroup];
  return [INTRODUCTION, SERVERS, SKILLS, PLANS, ...groups.map(renderGroup)].join('\n');
}

function renderGroup({ name, locked, tools, configured, absent = {} }: BuiltinGroup): string {
  const lock = locked ? ' Users cannot switch it off.' : '';
  const settings = configured === undefined ? [] : [renderSettings(configured.schema)];
  const without = Object.entries(absent).map(([one, why]) => `Without settings there is no ${code(one)}: ${why}.\n`);
  const implied =
    name === planGroup.name ? ' No bundle grants it: it comes by itself where an agent has `planning`.' : '';
  const head = `## builtin/${name}\n\n${count(tools.length)}.${lock}${implied}\n`;
  return [head, ...settings, ...without, ...tools.map(renderTool)].join('\n');
}

function renderSettings(schema: z.ZodObject): string {
  const shape = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as JsonObject; // an object's schema
  const properties = isObject(shape['properties']) ? Object.values<unknown>(shape['properties']) : [];
  const rows = rowsOf(shape).map(([name = '', type = '', , about = ''], index) => {
    const { fallback, otherwise } = properties[index] as JsonObject; // what `key()` notes beside each schema
    const standard =
      fallback !== undefined ? code(JSON.stringify(fallback)) : typeof otherwise === 'string' ? otherwise : '';
    return [name, type, standard, about];
  });
  return `Settings, under \`config\` of its entry:\n\n${table(['Key', 'Type', 'Default', 'Meaning'], rows)}`;
}

function count(tools: number): string {
  return tools === 1 ? 'One tool' : `${tools} tools`;
}

function renderTool({ name, description, input, effect = 'once', approval, repeatable, timeoutMs }: ToolSpec): string {
  const traits = [
    `effect ${code(effect)}`,
    ...(approval === 'ask' ? ['asks a person'] : []),
    ...(repeatable === true ? ['may be called again with the same arguments'] : []),
    ...(timeoutMs === 0 ? ['no deadline'] : timeoutMs === undefined ? [] : [`${timeoutMs} ms at most`]),
  ];
  return `### ${name}\n\n${description}\n\n${traits.join(', ')}.\n\n${argumentTable(input)}`.replace(
    /\n\neffect/,
    '\n\nEffect',
  );
}

function argumentTable(input: ToolSpec['input']): string {
  const schema = (
    input instanceof z.ZodType ? z.toJSONSchema(input, { io: 'input', unrepresentable: 'any' }) : input
  ) as JsonObject; // a JSON Schema either way
  const rows = rowsOf(schema);
  return rows.length === 0 ? 'It takes nothing.\n' : table(['Argument', 'Type', 'Default', 'Meaning'], rows);
}

/** A row for each property: its name, its type, its default or that it has to be there, and what it means. */
function rowsOf(schema: JsonObject): string[][] {
  const properties = isObject(schema['properties']) ? schema['properties'] : {};
  const required = Array.isArray(schema['required']) ? schema['required'] : [];
  return Object.entries(properties).map(([name, one]) => {
    const { default: fallback, description } = one as JsonObject; // a schema, by its place
    const otherwise = required.includes(name)
      ? 'required'
      : fallback === undefined
        ? ''
        : code(JSON.stringify(fallback));
    return [code(name), jsonType(one as JsonObject), otherwise, typeof description === 'string' ? description : ''];
  });
}

const INTRODUCTION = `# Tools

${generated('src/plugins/tools/')}
Groups that come with Treadle. A bundle grants one with \`{ name: math, kind: module, module: builtin/math }\`, whole or in
part with \`allowed\`. The effect says what a repetition would do to the world: \`read\` and \`idempotent\` run again after a
crash, \`once\` does not.

A tool of your own is a file beside the bundle that exports what \`defineTool\` makes: [examples/shop](../examples/shop).

**What a tool may touch.** An entry of \`kind: module\` says what its tools are handed, and they are handed nothing else:

\`\`\`yaml
- name: notes
  kind: module
  module: ./tools/notes.ts
  files: { root: ./notes, ignore: ['*.key'], max_bytes: 1000000 }
  fetch: { only_hosts: ['*.example.com'], allow_hosts: ['10.0.0.7:8080'] }
  secrets: { API_KEY: '\${NOTES_KEY}' }
\`\`\`

- \`context.files\` are the files of one folder: \`read\`, \`readText\`, \`write\` (all or nothing), \`list\`, \`stat\`, \`remove\`. Nothing
  leads out of it: not \`..\`, not a link, not what changes between a look and a use. \`.treadle\` is never seen, \`.git\` never
  written. A relative root starts in the folder of the bundle; without one it is where Treadle was started.
- \`context.fetch\` is the web's \`fetch\` behind a guard: every address is resolved once and has to be public, also after each
  redirect, except for the hosts in \`allow_hosts\`; \`only_hosts\` leaves no others.
- \`context.secrets\` has what the entry hands over. It is taken out of what the tool returns, throws and reports.
- A tool with a \`judge\` says of each call's arguments itself that they are refused, or that a person has to be asked; with
  a \`preview\` it shows that person what would happen.
- A text part with \`format: diff\` or \`format: terminal\` is shown so to people; one with \`audience: people\` is shown to nobody else.
- \`context.call(name, args)\` calls another tool of the agent as an action under this one, with its own gates, intent and result.

**A programmer.** [agents/coding.yaml](../agents/coding.yaml) grants \`builtin/files\`, \`builtin/shell\` and \`builtin/code\` in the folder
where it is started: \`treadle chat agents/coding.yaml\`. It asks before it changes a file, with the diff, and about commands that
its rules do not allow. The shell needs the packages \`web-tree-sitter\` and \`tree-sitter-bash\`; with bubblewrap (\`bwrap\`) its
commands run in a sandbox, and without it a person is asked about each.

**The provider's own search.** With \`search: { provider: native }\` the model's provider searches the web while it answers. Its
searches and what they found are in the log and the page's sources like those of any other, and are counted and priced. But
they are the provider's actions: no gate is asked before them or about their results, nobody approves them, and
\`tool_timeout\`, \`rate_limiter\` and \`prompt_injection\` do not see them. What the entry does not allow, \`gate.tool_filter\`
takes out or a user switches off is not declared to the provider, so it does not happen. \`treadle check\` says which of an
agent's models have no such search, and which rules name it in vain.
`;

const SKILLS = `**Named services.** A service holds objects of one kind and has operations on them, a tool each: \`task_object_search\`. An entry
of \`kind: named_service\` grants them by namespace; \`named_services\` says who provides each, a module or an OpenAPI document:

\`\`\`yaml
surfaces:
  as_consumer:
    agents:
      main:
        tools:
          - name: board
            kind: named_service
            namespaces:
              task: { allowed: [object.search, object.get], tool_traits: { '*': { timeout_ms: 5000 } } }
              crm: {}
    named_services:
      task: { kind: module, module: ./services/task.ts }
      crm:
        kind: openapi
        document: https://crm.example.com/openapi.json
        operations: { object.get: getContact, object.delete: 'DELETE /contacts/{id}' }
        auth: { type: bearer, token: '\${CRM_TOKEN}' }
\`\`\`

- A module exports \`service\`, made with \`defineService\` and \`defineOperation\`. Operations that read by their name, such as
  \`object.get\`, have the effect \`read\`; those of a document have what HTTP says of their method.
- The instructions list the services that a user has left. A namespace that is switched off leaves that list and every tool.
- A document that is wrong stops the bundle. One at an address that cannot be had leaves the service inactive, and is
  asked for again. Requests never go to private addresses, except to the hosts in \`allow_hosts\`.

**Connected accounts.** \`accounts\` declares where users have accounts, \`tool_claims\` which rights a tool needs there:

\`\`\`yaml
accounts:
  slack: { type: oauth2, issuer: https://slack.example.com, client_id: '\${SLACK_ID}', client_secret: '\${SLACK_SECRET}' }
surfaces:
  as_consumer:
    agents:
      main:
        tools:
          - name: slack
            kind: module
            module: ./tools/slack.ts
            tool_claims: { post: { provider: slack, claims: ['chat:write'] } }
\`\`\`

- A tool that is declared so is handed the account: \`const { token } = await context.account()\`. No other tool is.
- While the rights are unmet it is inactive, or, with \`claim_policy: ask\`, its first use asks the user to connect the account;
  the run goes on by itself once that is done. Rights that cannot be read are no rights.
- Users connect accounts with \`treadle accounts connect\` or \`POST /api/v1/accounts/{provider}/connect\`. Tokens are sealed at
  rest.

**Skills.** A skill is a folder with a \`SKILL.md\` in the Agent Skills format: \`name\` and \`description\` between two
lines of \`---\`, then instructions. \`skills: { custom_root: skills }\` beside \`tools\` grants those in a folder of the bundle,
\`skills: { shipped: [writing-bundles] }\` those that come with Treadle.

- The prompt lists them. A model loads one with \`skills_load\` and reads its other files with \`skills_read\`; what the list
  has no room for it finds with \`skills_search\`. These tools are there with the first skill.
- \`metadata: { requires-tools: web_search }\`, or a KDCube \`tools.yaml\`, names tools without which the skill hides itself.
  \`allowed-tools\` is not read: a skill approves nothing, every gate is asked as ever.
- Ids are \`namespace.name\`; the namespace is \`metadata.namespace\`, else a folder between, else \`public\`.
- \`treadle check\` says what is wrong with a skill and which are hidden. Nothing is followed out of the folder.
`;

const PLANS = `**Plans.** An agent with \`planning\` on has \`plan_update\`, which no entry grants and no user switches off. With it the model
marks steps as doing, done, failed or skipped, and puts others in the place of those that are open. Announce, the terminal and the
page show each step as it stands. Where \`planning: { approval: always }\` had a person agree to the plan, a revision asks again.
`;

const SERVERS = `**Tools of MCP servers.** An entry of \`kind: mcp\` grants the tools of a server that \`surfaces.as_consumer.mcp.services\` says how to reach;
the protocol's client is a package of its own, \`npm install @modelcontextprotocol/client\`:

\`\`\`yaml
surfaces:
  as_consumer:
    agents:
      main:
        tools:
          - { name: files, kind: mcp, allowed: [read_text_file, list_directory] }
          - { name: kb, kind: mcp, server_id: knowledge, tool_traits: { '*': { approval: ask } } }
    mcp:
      services:
        files: { transport: stdio, command: npx, args: [-y, '@modelcontextprotocol/server-filesystem', ./notes] }
        knowledge: { transport: http, url: https://kb.example.com/mcp, auth: { type: bearer, token: '\${KB_TOKEN}' } }
\`\`\`

- A model sees a tool as group and name: \`kb_search\`. \`allowed\`, \`tool_traits\` and selections use the server's own name.
- A server is connected when a turn first needs it. One that is down costs its own tools, and announce says why.
- What a server changes counts from the next turn. \`tool.changed\` says what it was, and a tool that its user let run under another
  description, in whichever conversation, asks a person again.
- The effect is what the server says (\`readOnlyHint\`, \`idempotentHint\`), else \`once\`. \`tool_traits\` stand over it.
- What a server asks in the middle of a call becomes a question to the person; the call is made again with the answer.
- A server with resources has \`list_resources\` and \`read_resource\` besides. \`list_prompts\` and \`get_prompt\` are granted by
  name only.
- A child process has \`PATH\` and the \`env\` of its service, and nothing else of Treadle's environment.
- \`treadle check\` asks the servers, and says what of them cannot be used.
- With \`auth: { type: oauth2 }\` each user signs in to the server themselves: it is the account \`mcp.knowledge\` among their
  accounts, and its calls are made with their own token. Before, its tools are inactive, or, with \`claim_policy: ask\`, the
  attempt asks for the sign-in. The client is registered by itself unless \`client_id\` names one; the rights of the app
  itself are \`grant: client_credentials\`.
`;
