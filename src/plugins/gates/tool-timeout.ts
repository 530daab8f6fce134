import { z } from 'zod';
import { literalsOf, matchesGlob } from '../../base/glob.ts';
import { key } from '../../domain/bundle-key.ts';
import { definePlugin } from '../../kernel/plugin.ts';
import { revise } from '../../kernel/verdict.ts';

const ms = z.int().min(1).max(86_400_000);

const config = z.strictObject({
  default_ms: key(ms, 'Milliseconds for tools that nothing else is said of.', { otherwise: "the tool's own" }),
  tools: key(z.record(z.string().min(1), ms), 'Milliseconds by tool; `*` and `?` stand for characters.', {
    otherwise: 'none',
  }),
});

/**
 * Gives tools deadlines. A tool's own name counts before a pattern, and of patterns the one that says most.
 *
 * A tool without any deadline, such as one that waits for a person or for another agent, gets one only by its own name.
 * What a tool had said by its deadline is its result; what comes later is ignored.
 */
export const toolTimeout = definePlugin({
  id: 'gate.tool_timeout',
  about: 'Gives tools deadlines. What one had reported by then is kept.',
  config,
  example: { default_ms: 20_000, tools: { 'web_*': 60_000, web_search: 10_000 } },
  tools: ({ tools = {} }) => Object.keys(tools),
  setup(host, { default_ms, tools = {} }) {
    const patterns = Object.entries(tools).sort(([left], [right]) => literalsOf(right) - literalsOf(left));
    const deadlineOf = (name: string, present: number): number | undefined => {
      if (Object.hasOwn(tools, name)) return tools[name];
      if (present === 0) return undefined;
      return patterns.find(([pattern]) => matchesGlob(pattern, name))?.[1] ?? default_ms;
    };
    host.before('before:tool.invoke', (asked) => {
      const timeoutMs = deadlineOf(asked.tool.name, asked.timeoutMs);
      return timeoutMs === undefined || timeoutMs === asked.timeoutMs ? undefined : revise({ ...asked, timeoutMs });
    });
  },
});
