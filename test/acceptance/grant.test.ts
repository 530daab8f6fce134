// One bundle, two agents, two users: what was granted, what was taken away, what it costs, and that nothing gives it back.
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import process from 'node:process';
import { after, before, test } from 'node:test';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import type { ScriptFunction } from '../../src/adapters/models/script.ts';
import { createMemorySelections } from '../../src/adapters/stores/control/selections.ts';
import { systemClock } from '../../src/base/clock.ts';
import { API } from '../../src/http/wire.ts';
import type { SelectionStore } from '../../src/kernel/choices.ts';
import { inside } from '../cli/inside.ts';
import { aServer, type Reply, type Served } from '../http/server.ts';
import { fake } from '../mcp/support.ts';
import { skill } from '../skills/bundles.ts';
import { inFolder } from '../support/bundles.ts';
import { cachedModels, type CachedModels } from '../support/cached-model.ts';

const kb = fake({ pages: [[{ name: 'echo', description: 'Says it again.', annotations: { readOnlyHint: true } }]] });

const bundle = (searxng: string, more = ''): string => `
id: desk@1
config:
  react:
    default_agent:
      system_prompt: "${'You are patient. '.repeat(400)}"
      subagents: true
      supported_models:
        - { provider: anthropic, model: claude-sonnet-4-6, label: Sonnet }
        - { provider: anthropic, model: claude-haiku-4-5, label: Haiku }
    other: { model_role: quick }
surfaces:
  as_consumer:
    default_agent: main
    agents:
      default_agent:
        tools:
          - { name: time, kind: module, module: builtin/time }
          - { name: math, kind: module, module: builtin/math }
          - { name: web, kind: module, module: builtin/web, config: { search: { provider: searxng, url: '${searxng}' } } }
          - { name: kb, kind: mcp }
          - { name: task, kind: named_service, namespaces: { task: {} } }
          ${more}
        skills: { custom_root: skills }
      main: {}
      other:
        tools:
          - { name: web, kind: module, module: builtin/web, defer: true, config: { search: { provider: searxng, url: '${searxng}' } } }
    mcp: { services: { kb: ${JSON.stringify(kb)} } }
    named_services: { task: { kind: module, module: ./board.js } }
models:
  balanced: { provider: anthropic, model: claude-sonnet-4-6 }
  quick: { provider: scripted, model: scripted }
`;
const io = '- { name: io, kind: module, module: builtin/io }';
const files = {
  'skills/tea/SKILL.md': skill('tea'),
  'board.js': `export const service = { operations: { 'object.get': {
    description: 'Reads.', input: { type: 'object' }, run: () => 'a task' } } };`,
};

/** Does what the person says: `use TOOL` calls it, `find TOOL` searches for it and then calls it, `hand WORDS` delegates them. */
const obedient: ScriptFunction = ({ userText, step }) => {
  const [verb, ...rest] = userText.split(' ');
  const name = rest[0] ?? '';
  const args = name.startsWith('web') ? { query: 'tea' } : {};
  if (verb === 'use' && step === 0) return { actions: [{ name, arguments: args }] };
  if (verb === 'find' && step === 0) return { actions: [{ name: 'tool_search', arguments: { query: 'web search' } }] };
  if (verb === 'find' && step === 1)
    return { actions: [{ name: 'tool_use', arguments: { tool: 'web_search', arguments: args } }] };
  if (verb === 'hand' && step === 0)
    return { actions: [{ name: 'delegate', arguments: { agent: 'other', task: rest.join(' ') } }] };
  return { text: 'Done.' };
};

type Trouble = 'none' | 'throws' | 'hangs' | 'holds junk' | 'answers junk';
let trouble: Trouble = 'none';

function breakable(inner: SelectionStore): SelectionStore {
  return {
    writeSelection: (...given) => inner.writeSelection(...given),
    readSelection(key) {
      switch (trouble) {
        case 'none':
          return inner.readSelection(key);
        case 'throws':
          throw new Error('disk on fire');
        case 'hangs':
          return new Promise(() => undefined);
        case 'holds junk':
          return { value: 'junk', revision: 1 };
        case 'answers junk':
          return 42 as never; // a store of somebody else's
      }
    },
  };
}

interface Fact {
  readonly type: string;
  readonly payload: Record<string, unknown>;
}

interface Talk {
  readonly id: string;
  readonly key: string;
  readonly say: (text: string) => Promise<void>;
  readonly facts: (type: string, id?: string) => Promise<readonly Fact['payload'][]>;
  readonly prompt: (turn: number) => Promise<Prompt>;
  readonly patch: (body: object) => Promise<Reply>;
}

interface Prompt {
  readonly sections: readonly { name: string; digest: string; read?: string; text: string }[];
  readonly cache: { readonly cold?: { section: string; change: string } };
}

const endings: (() => unknown)[] = [];
let folder = '';
let served: Served;
let models: CachedModels;
let searches = 0;

before(async () => {
  const engine = createServer((_, response) => {
    searches++;
    const results = [{ title: 'Tea', url: 'https://tea.example/', content: 'Hot.' }];
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ results }));
  });
  await new Promise<void>((resolve) => engine.listen(0, '127.0.0.1', resolve));
  const { port } = engine.address() as AddressInfo; // it listens on a port
  const searxng = `http://127.0.0.1:${port}`;
  const done = Promise.withResolvers<undefined>();
  const made = Promise.withResolvers<undefined>();
  const left = inFolder(bundle(searxng), { ...files, 'new.yaml': bundle(searxng, io) }, async (file, at) => {
    folder = at;
    models = cachedModels(obedient, systemClock);
    served = await aServer(
      { after: (undo) => void endings.push(undo) },
      {
        bundles: [file],
        models,
        selections: breakable(createMemorySelections()),
        environment: { PATH: process.env['PATH'] },
      },
    );
    made.resolve(undefined);
    await done.promise;
  });
  await Promise.race([made.promise, left]);
  endings.push(() => {
    engine.close();
    done.resolve(undefined);
    return left;
  });
});
after(async () => {
  for (const end of endings) await end();
});

let users = 0;
/** A user of their own, and their conversation with an agent after its first turn. */
async function talk(first = 'hi', { agent = 'main', as }: { agent?: string; as?: string } = {}): Promise<Talk> {
  const key = as ?? (await served.key({ userId: `user-${++users}` }));
  const { body: begun } = await served.call('POST', `${API}/runs`, { body: { prompt: first, agent }, as: key });
  const id = String(begun['id']);
  const rest = () => served.rest(id, { as: key });
  await rest();
  return {
    id,
    key,
    async say(content) {
      await served.call('POST', `${API}/runs/${id}/messages`, { body: { content }, as: key });
      await rest();
    },
    async facts(type, of = id) {
      const { body } = await served.call('GET', `${API}/runs/${of}/log`, { as: key });
      return (body['facts'] as Fact[]).filter((fact) => fact.type === type).map(({ payload }) => payload);
    },
    async prompt(turn) {
      const { body } = await served.call('GET', `${API}/runs/${id}/prompts/1?turn=${turn}`, { as: key });
      return body as unknown as Prompt; // as its table says; test/http/routes.test.ts holds it against that
    },
    patch: (body) => served.call('PATCH', `${API}/agents/${agent}/selection`, { body, as: key }),
  };
}

const searchOff = { disabled: { tools: { web: ['web_search'] } } };
const haiku = { model: { provider: 'anthropic', model: 'claude-haiku-4-5' } };
const outcomes = async (one: Talk, id?: string) => (await one.facts('tool.result', id)).map(({ outcome }) => outcome);
const toolsOf = (request = models.requests.at(-1)) => request?.tools.map(({ name }) => name) ?? [];

/** A conversation whose user has switched the search off for good, and which has not been spoken to since. */
async function without(first?: string, agent?: string): Promise<Talk> {
  const one = await talk(first, agent === undefined ? {} : { agent });
  const { status } = await one.patch({ ...searchOff, decision: 'accept' });
  assert.equal(status, 200);
  return one;
}

const command = (...words: readonly string[]) =>
  inside(
    words.map((word) => (word.endsWith('.yaml') ? path.join(folder, word) : word)),
    { cwd: folder, env: { PATH: process.env['PATH'] ?? '' } },
  );

test('treadle check accepts the bundle', async () => {
  const { code, err } = await command('check', 'app.yaml');
  assert.deepEqual([code, err], [0, '']);
});

test('treadle explain names the line that a value came from', async () => {
  const { out } = await command('explain', 'main', 'app.yaml', '--json');
  const { settings } = JSON.parse(out) as { settings: { key: string; from: unknown }[] };
  const from = JSON.stringify(settings.find(({ key }) => key === 'subagents')?.from);
  assert.match(from, /app\.yaml:7.*default_agent/);
});

test('treadle plan says what an edit widens and what it costs', async () => {
  const { out } = await command('plan', 'app.yaml', 'new.yaml');
  assert.match(
    out,
    /widens +the tool tool_call \(io\) is granted[\s\S]*cache +the next prompts are written anew; nobody/,
  );
});

for (const name of ['time_now', 'web_search', 'kb_echo', 'task_object_get']) {
  test(`as it is configured, ${name} can be called`, async () => {
    assert.deepEqual(await outcomes(await talk(`use ${name}`)), ['ok']);
  });
}

test('the price is told before anything is saved: tokens, money, one cold turn, and until when to wait for nothing', async () => {
  const one = await talk();
  const { status, code, body } = await one.patch({ ...searchOff, ...haiku, conversation: one.id });
  const { details } = body['error'] as { details: { parts: { consequence: Consequence }[]; choices: string[] } };
  const [consequence] = details.parts.map((part) => part.consequence);
  assert.deepEqual([status, code, details.choices.includes('defer_cold')], [409, 'confirmation_required', true]);
  assert.ok((consequence?.tokens ?? 0) > 1_500);
  assert.match(consequence?.money.rebuild ?? '', /^0\.0\d+$/);
  assert.ok(Date.parse(consequence?.assumes.warmUntil ?? '') > Date.now());
  const { body: menu } = await served.call('GET', `${API}/agents/main/capabilities`, { as: one.key });
  assert.deepEqual((menu['selection'] as typeof searchOff).disabled.tools, {});
});
interface Consequence {
  readonly tokens: number;
  readonly money: { readonly rebuild: string };
  readonly assumes: { readonly warmUntil: string };
}

test('once it is accepted, the next turn has the other model and no search in its prompt', async () => {
  const one = await talk();
  await one.patch({ ...searchOff, ...haiku, decision: 'accept' });
  await one.say('hi');
  assert.equal(models.requests.at(-1)?.model.model, 'claude-haiku-4-5');
  assert.deepEqual([toolsOf().includes('web_search'), toolsOf().includes('web_fetch')], [false, true]);
  assert.doesNotMatch((await one.prompt(2)).sections.find(({ name }) => name === 'tools')?.text ?? '', /web_search/);
});

test('a call of it all the same is refused, and nobody is asked', async () => {
  const one = await without();
  const asked = searches;
  await one.say('use web_search');
  assert.deepEqual([await outcomes(one), searches], [['refused'], asked]);
});

test('an agent below does not get it back', async () => {
  const one = await without();
  const asked = searches;
  await one.say('hand use web_search');
  const [started] = await one.facts('subagent.started');
  assert.deepEqual(await outcomes(one, String(started?.['conversation'])), ['refused']);
  assert.equal(searches, asked);
});

test('a search for tools finds it for one who has it', async () => {
  const asked = searches;
  await talk('find web_search', { agent: 'other' });
  assert.equal(searches, asked + 1);
});

test('a search for tools does not find it for one who switched it off', async () => {
  const one = await without('hi', 'other');
  const asked = searches;
  await one.say('find web_search');
  assert.equal(searches, asked);
  assert.deepEqual((await outcomes(one)).at(-1), 'refused');
});

test('by the MCP door it is the same agent for the same user', async (t) => {
  const one = await without();
  const asked = searches;
  const client = new Client({ name: 'test', version: '1' });
  await client.connect(
    new StreamableHTTPClientTransport(new URL(`${served.url}/mcp`), {
      requestInit: { headers: { Authorization: `Bearer ${one.key}` } },
    }),
  );
  t.after(() => client.close());
  const { structuredContent } = await client.callTool({ name: 'main', arguments: { prompt: 'use web_search' } });
  const { run } = structuredContent as { run: string };
  assert.deepEqual([await outcomes(one, run), searches], [['refused'], asked]);
});

test('the other user has the same prompt as before, to the byte', async () => {
  const [one, other] = [await talk(), await talk()];
  await one.patch({ ...searchOff, ...haiku, decision: 'accept' });
  await one.say('hi');
  await other.say('hi');
  const head = async (turn: number) =>
    (await other.prompt(turn)).sections
      .filter(({ name }) => ['tools', 'instructions', 'gallery'].includes(name))
      .map(({ digest }) => digest);
  assert.deepEqual(await head(2), await head(1));
  assert.ok(toolsOf().includes('web_search'));
});

test('a prompt shows each section with its hash and whether it was read from the cache', async () => {
  const one = await talk();
  await one.say('hi');
  const { sections } = await one.prompt(2);
  assert.ok(sections.every(({ digest }) => /^[0-9a-f]{8,}$/.test(digest)));
  const read = Object.fromEntries(sections.map((section) => [section.name, section.read]));
  assert.deepEqual([read['tools'], read['instructions']], ['yes', 'yes']);
});

for (const [change, patch, section] of [
  ['a tool switched off', searchOff, 'tools'],
  ['another model', haiku, 'model'],
] as const) {
  test(`a prompt that went cold names the change that did it: ${change}`, async () => {
    models.forget(); // other users' conversations may have left the very prompt that comes now
    const one = await talk();
    await one.patch({ ...patch, decision: 'accept' });
    await one.say('hi');
    const { sections, cache } = await one.prompt(2);
    assert.deepEqual([cache.cold?.section, cache.cold?.change], [section, 'selection']);
    assert.equal(sections.find(({ name }) => name === 'tools')?.read, 'no');
  });
}

for (const broken of ['throws', 'hangs', 'holds junk', 'answers junk'] as const) {
  test(`with a store that ${broken} a turn runs as configured, and says so`, async (t) => {
    t.after(() => (trouble = 'none'));
    trouble = broken;
    const one = await talk('use web_search');
    assert.deepEqual([await outcomes(one), (await one.facts('selection.ignored')).length], [['ok'], 1]);
  });
}

for (const broken of ['throws', 'hangs', 'holds junk', 'answers junk'] as const) {
  test(`with a store that ${broken} a turn runs as the conversation last did, and says so`, async (t) => {
    t.after(() => (trouble = 'none'));
    const one = await without();
    await one.say('hi');
    trouble = broken;
    await one.say('use web_search');
    assert.deepEqual([await outcomes(one), (await one.facts('selection.ignored')).length], [['refused'], 1]);
  });
}
