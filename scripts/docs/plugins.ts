// docs/plugins.md, made of the plugins: each is installed on a bus that nobody uses, and its manifest is read.
import { stringify } from 'yaml';
import { z } from 'zod';
import { systemClock } from '../../src/base/clock.ts';
import { isObject, type Json, type JsonObject } from '../../src/base/json.ts';
import { createBus } from '../../src/kernel/bus.ts';
import { install, type Manifest, type Plugin } from '../../src/kernel/plugin.ts';
import type { Logger } from '../../src/kernel/logger.ts';
import { allPlugins } from '../../src/platform/bundle/all-plugins.ts';
import { activeByDefault } from '../../src/plugins/shipped.ts';
import { jsonType } from './shape.ts';
import { code, generated, table } from './table.ts';

export function renderPluginsDoc(): string {
  return [INTRODUCTION, ...allPlugins.map(renderPlugin), WRITING].join('\n');
}

function renderPlugin(plugin: Plugin): string {
  const schema = z.toJSONSchema(plugin.config, { io: 'input', unrepresentable: 'any' }) as JsonObject; // the same values
  const active = activeByDefault.has(plugin.id) ? 'Always active.' : 'Active when a bundle names it.';
  const parts = [`## ${plugin.id}`, `${plugin.about} ${active}`, registered(manifestOf(plugin, schema)).trimEnd()];
  return [...parts, ...exampleOf(plugin), configTable(schema)].filter((part) => part !== '').join('\n\n');
}

/** As a bundle writes it. */
function exampleOf({ id, example }: Plugin): readonly string[] {
  if (example === undefined) return [];
  const active = activeByDefault.has(id) ? {} : { active: [id] };
  return [`\`\`\`yaml\n${stringify({ plugins: { ...active, [id]: example } }, YAML_STYLE).trimEnd()}\n\`\`\``];
}

/** Short lists and mappings on one line, as people write them. */
const YAML_STYLE = { lineWidth: 100, collectionStyle: 'any', flowCollectionPadding: true } as const;

function registered({ gates, listens, answers, announces }: Manifest): string {
  const rows: (readonly [string, readonly string[]])[] = [
    ['Judges', gates],
    ['Listens to', listens],
    ['Answers', answers],
    ['Adds to announce', announces],
  ];
  return rows
    .filter(([, names]) => names.length > 0)
    .map(([what, names]) => `- ${what} ${names.map(code).join(', ')}\n`)
    .join('');
}

const silent: Logger = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };

/** With every key set, so that what is registered on demand is registered. */
function manifestOf(plugin: Plugin, schema: JsonObject): Manifest {
  const record = (): never => {
    throw new Error('nothing is stated while a plugin is set up');
  };
  const bus = createBus({ clock: systemClock, logger: silent, record });
  return install(plugin, plugin.example ?? sample(schema), { bus, clock: systemClock, logger: silent }).manifest;
}

/** Some value that the schema lets through. */
function sample(schema: unknown): Json {
  if (!isObject(schema)) return null;
  const members = schema['anyOf'] ?? schema['oneOf'];
  const first: unknown = Array.isArray(members) ? members[0] : undefined;
  if (first !== undefined) return sample(first);
  if (Array.isArray(schema['enum'])) return sample({ const: schema['enum'][0] as Json }); // JSON Schema has JSON there
  if (schema['const'] !== undefined) return schema['const'] as Json; // as above
  switch (schema['type']) {
    case 'object': {
      const properties = isObject(schema['properties']) ? schema['properties'] : {};
      return Object.fromEntries(Object.entries(properties).map(([name, one]) => [name, sample(one)]));
    }
    case 'array':
      return [sample(schema['items'])];
    case 'integer':
    case 'number':
      return typeof schema['minimum'] === 'number' ? schema['minimum'] : 1;
    case 'boolean':
      return true;
    default:
      return 'something';
  }
}

function configTable(schema: JsonObject): string {
  const rows = rowsOf(schema, '');
  return rows.length === 0 ? 'It has no configuration.\n' : table(['Key', 'Type', 'Default', 'Meaning'], rows);
}

/** A row for each key, and for each of the objects that a list or an alternative holds. */
function rowsOf(schema: JsonObject, above: string): string[][] {
  const properties = isObject(schema['properties']) ? schema['properties'] : {};
  const required = Array.isArray(schema['required']) ? schema['required'] : [];
  return Object.entries(properties).flatMap(([name, one]) => {
    const key = one as JsonObject; // a schema, by its place
    const path = `${above}${name}`;
    const isNeeded = required.includes(name);
    const row = [code(path), shortType(key), isNeeded ? 'required' : fallback(key), word(key['description'])];
    const { items } = key;
    return [row, ...(isObject(items) ? rowsOf(items, `${path}[].`) : [])];
  });
}

/** What has rows of its own is only named. */
function shortType(schema: JsonObject): string {
  const { items } = schema;
  return isObject(items) && isObject(items['properties']) ? 'list of objects' : jsonType(schema);
}

function fallback(schema: JsonObject): string {
  const { fallback: value = schema['default'] } = schema;
  const text = value === undefined ? word(schema['otherwise']) : word(value);
  return value === undefined || text.includes(' ') ? text : code(text); // in words, or a value
}

function word(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? String(value) : '';
}

const INTRODUCTION = `# Plugins

${generated('src/plugins/')}
A plugin is one function that registers gates, listeners and answerers. A bundle names those that are active besides the
ones that always are, and configures them by id:

\`\`\`yaml
plugins:
  active: [planner.static]
  planner.static: { steps: [Look, Order, Report] }
  gate.endless_loop: { max_iterations: 8, warning_at: 6 }
\`\`\`

Ids may carry the prefix \`nexus.\`. \`control.cancel\` may be named and changes nothing: cancelling is part of the loop.
`;

const WRITING = `## Your own

A program hands further plugins to \`createPlatform({ plugins })\`, and its bundle activates them:
[examples/03-a-gate.ts](../examples/03-a-gate.ts). What a plugin registers is its declaration; \`platform.manifests\` reads it
back. In \`setup(host, config)\`:

- \`host.before(question, judge)\` judges one of the questions of [events.md](events.md#questions). Nothing is consent; \`deny\`,
  \`hold\` and \`revise\` are the other answers. One that throws, or takes longer than ten seconds, is a deny.
- \`host.on(pattern, listener)\` hears events. It cannot delay a turn.
- \`host.answer(request, answerer)\` serves \`plan.request\` or \`memory.compact.request\`. One plugin may. The answerer is
  handed \`askModel\`, for a model call that is judged, recorded and counted like any other and is no decision.
- \`host.announce(title, block)\` adds a block to the uncached end of the prompt.
- \`host.emit(conversation, draft)\` states a fact.

Priorities (lower first, 50 when absent) order revisions and listeners. They never turn a no into a yes.

Where a bundle is edited while it is served, \`setup\` is called again for a plugin whose configuration is another one. Both
run then: each hears and judges the turns of its own edition. What \`setup\` has returned is called when the last turn has
left the older one.
`;
