import { z } from 'zod';
import { tryParseJson, type Json } from '../../base/json.ts';
import { key } from '../../domain/bundle-key.ts';
import type { Part } from '../../domain/content.ts';
import type { Observation } from '../../domain/tool.ts';
import { definePlugin, type Plugin } from '../../kernel/plugin.ts';
import { deny, revise } from '../../kernel/verdict.ts';

export const SENSITIVE = ['secret', 'email', 'card', 'iban', 'ssn'] as const;
export type Sensitive = (typeof SENSITIVE)[number];

/** A place in a text that holds something sensitive. `to` is after its last character. */
export interface Finding {
  readonly kind: Sensitive;
  readonly from: number;
  readonly to: number;
}

/** Finds what is sensitive in a text; the places may overlap. Rejects `package_missing`. */
export type Detect = (text: string, kinds: readonly Sensitive[]) => Promise<readonly Finding[]>;

const config = z.strictObject({
  find: key(
    z.array(z.enum(SENSITIVE)).min(1),
    '`secret`: keys, tokens and passwords of known services. `card`, `iban`: with a right check digit. `ssn`: of the United States.',
    { otherwise: 'secret, card, iban, ssn' },
  ),
  action: key(z.enum(['redact', 'block']), '`redact`: each is replaced by a mark. `block`: the whole is refused.', {
    default: 'redact',
  }),
  on: key(
    z.array(z.enum(['output', 'results', 'thinking', 'arguments'])).min(1),
    'What is looked at. `arguments`: those of actions, also of what a program calls and what a person wrote; blocked, the action is refused. `thinking` and `arguments` are then shown when they are whole and not as they come.',
    { otherwise: '`output` and `results`' },
  ),
});

/**
 * Looks for secrets and personal data in what a model says, thinks and asks tools for, and in what tools return, before it is
 * stored, shown or streamed.
 * So the log has what was redacted as it was redacted, and the original is nowhere.
 */
export function contentSafety(detect: Detect): Plugin<z.infer<typeof config>> {
  return definePlugin({
    id: 'gate.content_safety',
    about: 'Finds secrets and personal data in what models say and tools return, and redacts or refuses it.',
    config,
    example: { find: ['secret', 'card', 'email'], action: 'redact' },
    async prepare({ find = USUAL }) {
      await detect('', find);
    },
    setup(host, { find = USUAL, action = 'redact', on = ['output', 'results'] }) {
      const redact = async (text: string, into: Set<Sensitive>): Promise<string> => {
        if (text.trim() === '') return text;
        return redacted(text, await detect(text, find), into);
      };
      /** Arguments that are no JSON are never run, and are on record all the same. */
      const inInput = async (input: string, into: Set<Sensitive>): Promise<string> => {
        const found = new Set<Sensitive>();
        const parsed = tryParseJson(input);
        const clean = parsed.ok
          ? JSON.stringify(await inJson(parsed.value, (text) => redact(text, found)))
          : await redact(input, found);
        for (const one of found) into.add(one);
        return found.size === 0 ? input : clean;
      };
      const redactAll = (texts: readonly string[], into: Set<Sensitive>): Promise<string[]> =>
        Promise.all(texts.map((text) => redact(text, into)));

      const looksAt = (place: 'output' | 'thinking' | 'arguments'): boolean => on.includes(place);
      const looksDeep = looksAt('thinking') || looksAt('arguments');
      if (looksAt('output') || looksDeep)
        host.before(
          'before:llm.response',
          async (said) => {
            const [spoken, unspoken] = [new Set<Sensitive>(), new Set<Sensitive>()];
            const { texts, thoughts, inputs } = said;
            const clean = {
              texts: looksAt('output') ? await redactAll(texts, spoken) : texts,
              thoughts: looksAt('thinking') ? await redactAll(thoughts, spoken) : thoughts,
              // What is blocked is refused as an action: here it only has to leave no trace.
              inputs: looksAt('arguments') ? await Promise.all(inputs.map((one) => inInput(one, unspoken))) : inputs,
            };
            const found = new Set([...spoken, ...unspoken]);
            if (found.size === 0) return undefined;
            const what = `what the model said has ${listed(found)}`;
            if (action === 'block' && spoken.size > 0) return deny(what, 'content_safety');
            return revise({ ...said, ...clean }, `${what}: redacted`);
          },
          { looksDeep },
        );
      if (looksAt('arguments'))
        host.before('before:tool.invoke', async (asked) => {
          const found = new Set<Sensitive>();
          const clean = await inJson(asked.arguments, (text) => redact(text, found));
          const isMarked = action === 'block' && MARK.test(JSON.stringify(asked.arguments));
          if (found.size === 0 && !isMarked) return undefined;
          const what = `the arguments of ${asked.tool.name} have ${found.size === 0 ? 'something sensitive' : listed(found)}`;
          return action === 'block'
            ? deny(what, 'content_safety')
            : revise({ ...asked, arguments: clean }, `${what}: redacted`);
        });
      if (on.includes('results'))
        host.before('before:tool.result', async (question) => {
          const found = new Set<Sensitive>();
          const observation = await inObservation(question.observation, (text) => redact(text, found));
          if (found.size === 0) return undefined;
          const what = `the result of ${question.tool.name} has ${listed(found)}`;
          return action === 'block'
            ? deny(what, 'content_safety')
            : revise({ ...question, observation }, `${what}: redacted`);
        });
    },
  });
}

/** What `redacted` leaves in a place. */
const MARK = new RegExp(`\\[redacted: (${SENSITIVE.join('|')})\\]`);

const USUAL: readonly Sensitive[] = ['secret', 'card', 'iban', 'ssn'];

const NAMES: Readonly<Record<Sensitive, string>> = {
  secret: 'a secret',
  email: 'an e-mail address',
  card: 'a card number',
  iban: 'a bank account number',
  ssn: 'a social security number',
};

function listed(found: ReadonlySet<Sensitive>): string {
  return [...found]
    .sort()
    .map((kind) => NAMES[kind])
    .join(' and ');
}

/** The text with a mark in the place of everything that was found. What overlaps is one place. */
export function redacted(text: string, findings: readonly Finding[], into: Set<Sensitive>): string {
  let out = '';
  let done = 0;
  for (const { kind, from, to } of [...findings].sort((left, right) => left.from - right.from || right.to - left.to)) {
    into.add(kind);
    if (to <= done) continue;
    if (from >= done) out += `${text.slice(done, from)}[redacted: ${kind}]`;
    done = to;
  }
  return out + text.slice(done);
}

type Redact = (text: string) => Promise<string>;

/** Every text of a result, names of fields too. What was cut off is not looked at, so it is not to be had any more. */
async function inObservation(observation: Observation, redact: Redact): Promise<Observation> {
  const { value, content, error, ref: _, ...rest } = observation;
  return {
    ...rest,
    ...(value !== undefined && { value: await inJson(value, redact) }),
    ...(content !== undefined && { content: await Promise.all(content.map((part) => inPart(part, redact))) }),
    ...(error !== undefined && { error: { code: error.code, message: await redact(error.message) } }),
  };
}

async function inPart(part: Part, redact: Redact): Promise<Part> {
  return part.type === 'text' ? { ...part, text: await redact(part.text) } : part;
}

async function inJson(value: Json, redact: Redact): Promise<Json> {
  if (typeof value === 'string') return redact(value);
  if (typeof value === 'number') {
    const text = String(value);
    const clean = await redact(text);
    return clean === text ? value : clean;
  }
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return Promise.all(value.map((one: Json) => inJson(one, redact)));
  const entries = await Promise.all(
    Object.entries(value).map(async ([name, one]) => [await redact(name), await inJson(one, redact)] as const),
  );
  return Object.fromEntries(entries);
}
