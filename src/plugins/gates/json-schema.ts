import { z } from 'zod';
import { tryParseJson, type Json, type JsonObject } from '../../base/json.ts';
import { key, requiredKey } from '../../domain/bundle-key.ts';
import { json } from '../../domain/content.ts';
import type { ModelRequest } from '../../domain/model.ts';
import { definePlugin, type Plugin } from '../../kernel/plugin.ts';
import { askAgain, deny, revise } from '../../kernel/verdict.ts';
import { mayTryAgain } from './second-chance.ts';

const config = z.strictObject({
  schema: requiredKey(
    z.record(z.string(), json),
    'JSON Schema (2020-12 unless `$schema` says otherwise) of the answer.',
  ),
  retries: key(z.int().min(0).max(10), 'How often in a turn the model is told what is wrong, and asked again.', {
    default: 2,
  }),
  native: key(z.boolean(), 'Whether the provider is told the schema, where it can keep to one beside tools.', {
    default: true,
  }),
});

/** Providers that keep to a schema beside tools. Elsewhere it would forbid the model to call any. */
const BESIDE_TOOLS: ReadonlySet<string> = new Set(['openai', 'azure']);

/** Checks a JSON value: what is wrong with it, each with its path. Throws for a schema that is none. */
export type CompileSchema = (schema: JsonObject, place: string) => (value: Json) => readonly string[];

/**
 * Holds answers to a JSON Schema. Where the provider can be told, it is; every answer is checked here all the same. A model
 * that answers with something else is told what is wrong and asked again, with the conversation as it stands; in the end the
 * answer is refused. The value is in `io.output`.
 */
export function jsonSchema(compile: CompileSchema): Plugin<z.infer<typeof config>> {
  return definePlugin({
    id: ID,
    about: 'Holds answers to a JSON Schema, natively where the provider has that.',
    config,
    example: {
      schema: {
        type: 'object',
        properties: { verdict: { enum: ['buy', 'hold', 'sell'] }, why: { type: 'string' } },
        required: ['verdict', 'why'],
        additionalProperties: false,
      },
      retries: 2,
    },
    setup(host, { schema, retries = 2, native = true }) {
      const check = compile(schema, `plugins.${ID}.schema`);

      const problemsOf = (text: string): { readonly value: Json } | { readonly problem: string } => {
        const parsed = tryParseJson(bare(text));
        if (!parsed.ok) return { problem: `it is not JSON: ${parsed.problem}` };
        const problems = check(parsed.value);
        return problems.length === 0 ? { value: parsed.value } : { problem: problems.join('; ') };
      };

      host.before('before:llm.request', (question, { agent }) => {
        const { request, purpose } = question;
        const isAside = purpose !== undefined && purpose !== 'wrap_up';
        if (!native || isAside || agent?.grammar === 'json' || !canBeTold(request)) return undefined;
        return revise({ ...question, request: { ...request, responseSchema: schema } });
      });
      host.before('before:io.output', (output, { conversation: { turn } }) => {
        const { text } = output;
        const found = problemsOf(text);
        if ('value' in found) return revise({ ...output, value: found.value });
        const why = `the answer does not fit its schema: ${found.problem}`;
        return mayTryAgain(turn, { gate: ID, retries, text })
          ? askAgain(
              why,
              `It has to be JSON of this schema, and nothing else: ${JSON.stringify(schema)}\nWhat is wrong: ${found.problem}`,
              'json_schema',
            )
          : deny(why, 'json_schema');
      });
    },
  });
}

const ID = 'gate.json_schema';

function canBeTold({ tools, allowed, model }: ModelRequest): boolean {
  return tools.length === 0 || allowed?.length === 0 || BESIDE_TOOLS.has(model.provider);
}

/** Models put JSON into a fence although they were told not to. Only where the fence is all there is. */
function bare(text: string): string {
  return /^\s*```(?:json)?\s*\n([\s\S]*?)\n\s*```\s*$/.exec(text)?.[1] ?? text;
}
