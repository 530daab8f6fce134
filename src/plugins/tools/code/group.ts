import { z } from 'zod';
import { key } from '../../../domain/bundle-key.ts';
import type { Observation } from '../../../domain/tool.ts';
import type { Json } from '../../../base/json.ts';
import { PARKED, type CodeRunner } from '../../../kernel/code.ts';
import type { ToolContext } from '../../../kernel/running-tool.ts';
import {
  configuredGroup,
  defineTool,
  parkProgram,
  toolFailure,
  toolResult,
  type BuiltinGroup,
} from '../../../kernel/tool.ts';

const config = z.strictObject({
  memory_mb: key(z.int().min(4).max(512), 'Memory of one run, in MiB.', { default: 64 }),
  work_ms: key(
    z.int().min(100).max(600_000),
    'Milliseconds that one run may work, without the time that it waits for tools.',
    { default: 10_000 },
  ),
  max_output_bytes: key(z.int().min(1_000).max(10_000_000), 'What is kept of its console.', { default: 100_000 }),
  tools: key(z.array(z.string().min(1)).max(200), 'The tools that code may call, by the names that the model sees.', {
    otherwise: 'all of the agent',
  }),
});

const input = z.strictObject({
  code: z
    .string()
    .min(1)
    .max(100_000)
    .describe('The body of an async function: await is allowed, and return gives the result.'),
});

/** JavaScript that the model writes, with the agent's tools and nothing else of the world. */
export function codeGroup(run: CodeRunner): BuiltinGroup {
  return configuredGroup({
    name: 'code',
    config,
    tools: ({ memory_mb = 64, work_ms = 10_000, max_output_bytes = 100_000, tools: allowed }) => [
      defineTool({
        name: 'code_run',
        description:
          'Run JavaScript in a sandbox without files, network, modules or timers, for work that takes many steps or much ' +
          'data. Your other tools are async functions there: const { value, text } = await tools.files_read({ path }); they ' +
          'throw an Error where the tool fails or a person refuses; where a person has to be asked, the code waits for them. ' +
          'A tool that waits for other work, such as another agent, fails there: call it by itself. return gives the result as JSON; console.log is shown, too. Nothing is kept between runs.',
        input,
        // What it calls has its own effect.
        effect: 'once',
        replays: true,
        timeoutMs: 0,
        async run({ code }, context) {
          const { program } = context;
          let said = '';
          let length = 0;
          const end = await run({
            code,
            tools: callable(context, allowed),
            async call(name, args) {
              const told = await (program?.call(name, args) ?? context.call(name, args));
              return told === 'parked' ? PARKED : handed(name, told);
            },
            onIdle: () => program?.onIdle(),
            log(text) {
              length += text.length + 1;
              if (said.length < max_output_bytes) said += `${text}\n`.slice(0, max_output_bytes - said.length);
              if (program?.isReplaying() !== true) context.progress({ text }); // it was told when it was first said
            },
            now: program?.begunAt ?? context.now(),
            memoryBytes: memory_mb * 1_048_576,
            workMs: work_ms,
            signal: context.signal,
          });
          const cut = length > said.length ? `[… ${length - said.length} characters were not kept …]\n` : '';
          const shown = (said + cut).toWellFormed();
          if (!end.ok && end.code === 'parked') return parkProgram();
          if (!end.ok) {
            const value = shown === '' ? {} : { value: { console: shown } };
            return toolFailure(end.code, end.message, { ...value, uncertain: end.code === 'stopped' });
          }
          return toolResult({
            value: end.value,
            ...(shown !== '' && { content: [{ type: 'text', text: shown, format: 'terminal' }] }),
          });
        },
      }),
    ],
  });
}

function callable({ conversation }: ToolContext, allowed: readonly string[] | undefined): readonly string[] {
  const names = (conversation.turn?.agent.tools ?? []).map(({ name }) => name);
  return names.filter((name) => name !== 'code_run' && allowed?.includes(name) !== false);
}

/** What a tool gave, as code reads it. Throws for what did not come out well. */
function handed(name: string, { outcome, value = null, content, error, ref }: Observation): Json {
  if (outcome !== 'ok') throw new Error(`${name}: ${error?.message ?? outcome}`);
  const texts = (content ?? []).filter((part) => part.audience === undefined && part.type === 'text');
  const text = texts.map((part) => (part.type === 'text' ? part.text : '')).join('\n');
  return { value, ...(text !== '' && { text }), ...(ref !== undefined && { cut: true }) };
}
