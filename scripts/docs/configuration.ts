// docs/configuration.md, made of the schema of the bundle: what the file says and what the code reads cannot differ.
import { allPlugins } from '../../src/platform/bundle/all-plugins.ts';
import { activeByDefault } from '../../src/plugins/shipped.ts';
import { bundleJsonSchema, definition } from '../../src/platform/bundle/bundle-schema.ts';
import { canonicalJson, isObject, type JsonObject } from '../../src/base/json.ts';

const INTRODUCTION = `# Configuration

One YAML file, a **bundle**, declares an app: its agents, what they may use, their models and plugins. This page is made
of the schema that reads it. \`treadle schema\` prints the schema for editors, \`treadle check bundle.yaml\` checks a file,
and \`treadle check --explain bundle.yaml\` says where each setting of an agent comes from.

- A key that nothing reads, a value of the wrong kind and a name that nothing has are errors, all told at once with file,
  line and column. Nothing starts half-configured.
- Settings of an agent resolve key by key: the agent's own level, then \`default_agent\`, then \`default\`.
- \`\${NAME}\` in a string is the environment variable, \`\${NAME:-default}\` has a default, \`$\${\` is the two characters.
  Errors show the name and never the value.
- Files that a bundle names are in its folder, also after symbolic links, UTF-8 and at most 1 MB.
- Examples of KDCube and Nexus load as they are printed: see \`kind: python\` and \`nexus.agent.react\`.

\`\`\`yaml
id: desk@1
config:
  react:
    main:
      system_prompt: You keep notes.
  surfaces:
    as_consumer:
      agents:
        main:
          tools:
            - { name: io, kind: module, module: builtin/io }
            - { name: notes, kind: module, module: ./notes.ts, tool_traits: { add: { approval: ask } } }
models:
  balanced: { provider: anthropic, model: claude-sonnet-4-6 }
\`\`\`
`;

/** A table of keys, and what it is called where others point to it. */
interface Section {
  readonly title: string;
  readonly schema: JsonObject;
}

/** Named parts, in the order in which a reader meets them. */
const PARTS: readonly (readonly [name: string, title: string])[] = [
  ['behaviour', 'Behaviour of an agent'],
  ['surfaces', 'Surfaces'],
  ['inventory', 'Inventory of an agent'],
  ['tools', 'Tools'],
  ['traits', 'Traits of a tool'],
  ['folder', 'Files of tools'],
  ['network', 'Requests of tools'],
  ['need', 'Claims of a tool'],
  ['namespace', 'Namespace'],
  ['exclusion', 'Operation that is left out'],
  ['named_service', 'Named service'],
  ['service_auth', 'Access to a service'],
  ['account', 'Account that users may connect'],
  ['visibility', 'Skills of a consumer'],
  ['event_source', 'Event source'],
  ['event_policies', 'How events come'],
  ['mcp_service', 'MCP server'],
  ['mcp_auth', 'Access to an MCP server'],
  ['role', 'Roles'],
  ['model', 'Model'],
  ['supported_model', 'Model that users may pick'],
  ['price', 'Price of a model'],
  ['cache', 'Prompt cache'],
  ['selection_change_policy', 'Policy for changes of a selection'],
];

/** The whole page. A function of the schema alone. */
export function renderConfigurationDoc(): string {
  const sections = [
    ...sectionsOf({ title: 'The bundle', schema: bundleJsonSchema() }),
    ...PARTS.flatMap(([name, title]) => sectionsOf({ title, schema: objectOf(definition(name)) })),
  ];
  const seen = new Set<string>();
  const distinct = sections.filter(({ schema }) => {
    const same = canonicalJson(schema);
    return !seen.has(same) && seen.add(same);
  });
  return [INTRODUCTION, ...distinct.map(renderSection), renderPlugins()].join('\n');
}

function renderPlugins(): string {
  const rows = allPlugins.map(
    ({ id, about }) => `| ${code(id)} | ${activeByDefault.has(id) ? 'always' : 'when named'} | ${about} |`,
  );
  return `## Plugins\n\n| Id | Active | What it does |\n| --- | --- | --- |\n${rows.join('\n')}\n`;
}

/** A section for the schema and for each object within it that has no name of its own. */
function sectionsOf({ title, schema }: Section): readonly Section[] {
  const alternatives = membersOf(schema);
  if (alternatives.length > 0) {
    const objects = alternatives.filter((one) => one['type'] === 'object' && !isLater(one));
    return [{ title, schema }, ...objects.flatMap((one) => sectionsOf({ title: titleOf(title, one), schema: one }))];
  }
  const inner = Object.entries(propertiesOf(schema)).flatMap(([name, property]) =>
    innerObjects(property).flatMap((one, _, all) => {
      // One key may take several shapes: each is told by what it must have.
      const { required: names } = one;
      const [required] = Array.isArray(names) ? (names as readonly unknown[]) : [];
      const shape = all.length > 1 ? ` with ${code(text(required))}` : '';
      return sectionsOf({ title: `${title}: ${code(name)}${shape}`, schema: one });
    }),
  );
  return [{ title, schema }, ...inner];
}

/** `Tools: kind module`, for one of several shapes that a key tells apart. */
function titleOf(title: string, member: JsonObject): string {
  const told = shapeOf(member);
  return told === undefined ? title : `${title}: ${told.key} ${code(told.value)}`;
}

/** Keys that tell the shapes of one part from each other. */
const DISCRIMINATORS = ['kind', 'transport', 'type'];

function shapeOf(member: JsonObject): { readonly key: string; readonly value: string } | undefined {
  for (const key of DISCRIMINATORS) {
    const { const: only, enum: several } = objectOf(propertiesOf(member)[key]);
    const value: unknown = only ?? (Array.isArray(several) ? (several as readonly unknown[])[0] : undefined);
    if (typeof value === 'string') return { key, value };
  }
  return undefined;
}

function innerObjects(property: JsonObject): readonly JsonObject[] {
  if (property['$ref'] !== undefined || isLater(property)) return [];
  if (Object.keys(propertiesOf(property)).length > 0) return [property];
  const { items } = property;
  return [...membersOf(property), ...(isObject(items) ? [objectOf(items)] : [])].flatMap(innerObjects);
}

function renderSection({ title, schema }: Section): string {
  const alternatives = membersOf(schema).filter((one) => !isLater(one));
  if (alternatives.length > 0) {
    const shapes = alternatives.flatMap((one) => shapeOf(one) ?? []);
    const [first] = shapes;
    const what =
      first === undefined
        ? `One of: ${typeText(schema)}.`
        : `Keys that depend on ${code(first.key)}: ${shapes.map(({ value }) => code(value)).join(', ')}.`;
    return `## ${title}\n\n${what}\n`;
  }
  const required = Array.isArray(schema['required']) ? schema['required'] : [];
  const rows = Object.entries(propertiesOf(schema)).map(([name, property]) => {
    const cells = isLater(property)
      ? [code(name), 'not yet', '', '', `${text(property['description'])} Refused in this version unless empty.`]
      : [
          code(name),
          typeText(property),
          required.includes(name) ? 'required' : fallbackText(property),
          text(property['since']),
          text(property['description']),
        ];
    return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  });
  return `## ${title}\n\n| Key | Type | Default | Since | Meaning |\n| --- | --- | --- | --- | --- |\n${rows.join('\n')}\n`;
}

function typeText(schema: JsonObject): string {
  const ref = schema['$ref'];
  if (typeof ref === 'string') {
    const title = PARTS.find(([name]) => ref.endsWith(`/${name}`))?.[1] ?? ref;
    return `[${title}](#${title.toLowerCase().replaceAll(' ', '-')})`;
  }
  const members = membersOf(schema);
  if (members.length > 0) return [...new Set(members.map(typeText))].join(' or ');
  if (schema['const'] !== undefined) return code(text(schema['const']));
  if (Array.isArray(schema['enum'])) return schema['enum'].map((one) => code(text(one))).join(', ');
  switch (schema['type']) {
    case 'array':
      return `list of ${typeText(objectOf(schema['items']))}`;
    case 'object': {
      if (Object.keys(propertiesOf(schema)).length > 0) return 'keys, see below';
      return `by name: ${typeText(objectOf(schema['additionalProperties']))}`;
    }
    case 'integer':
      return `whole number${range(schema)}`;
    case 'number':
      return `number${range(schema)}`;
    case 'boolean':
      return 'true or false';
    default:
      return text(schema['type']) || 'anything';
  }
}

function range({ minimum, maximum }: JsonObject): string {
  if (minimum === undefined && maximum === undefined) return '';
  return maximum === undefined ? `, ${text(minimum)} or more` : `, ${text(minimum)} to ${text(maximum)}`;
}

function fallbackText(schema: JsonObject): string {
  if (schema['default'] !== undefined) return code(text(schema['default']));
  return text(schema['otherwise']);
}

function membersOf(schema: JsonObject): readonly JsonObject[] {
  const members = schema['anyOf'] ?? schema['oneOf'];
  return Array.isArray(members) ? members.map(objectOf) : [];
}

function propertiesOf(schema: JsonObject): Readonly<Record<string, JsonObject>> {
  const properties = objectOf(schema['properties']);
  return Object.fromEntries(Object.entries(properties).map(([name, property]) => [name, objectOf(property)]));
}

function isLater(schema: JsonObject): boolean {
  return schema['later'] === true || objectOf(propertiesOf(schema)['kind'])['later'] === true;
}

function objectOf(value: unknown): JsonObject {
  return isObject(value) ? (value as JsonObject) : {}; // part of a JSON Schema, which is JSON
}

function text(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? String(value) : '';
}

function code(value: string): string {
  return `\`${value}\``;
}
