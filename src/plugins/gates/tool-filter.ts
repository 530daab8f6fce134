import { z } from 'zod';
import { matchesGlob } from '../../base/glob.ts';
import { key } from '../../domain/bundle-key.ts';
import { definePlugin } from '../../kernel/plugin.ts';
import { deny, revise } from '../../kernel/verdict.ts';

const names = z.array(z.string().min(1)).min(1);

const config = z.strictObject({
  allow: key(names, 'Tools that may be called, by name; `*` and `?` stand for characters.', { otherwise: 'all' }),
  deny: key(names, 'Tools that may not, also where `allow` names them.', { otherwise: 'none' }),
});

/** Takes tools out of every request and refuses their calls, of every agent of the bundle and of those they delegate to. */
export const toolFilter = definePlugin({
  id: 'gate.tool_filter',
  about: 'Takes tools out of what the model is shown, and refuses their calls.',
  config,
  example: { allow: ['calculate_*', 'mail_*'], deny: ['mail_delete'] },
  tools: ({ allow = [], deny: denied = [] }) => [...allow, ...denied],
  stances({ allow, deny: denied = [] }, { name }) {
    const pattern = denied.findIndex((one) => matchesGlob(one, name));
    if (pattern >= 0) return [{ then: 'deny', at: ['deny', pattern] }];
    return allow === undefined || matches(allow, name) ? [] : [{ then: 'deny', at: ['allow'] }];
  },
  setup(host, { allow = ['*'], deny: denied = [] }) {
    const passes = (name: string): boolean => matches(allow, name) && !matches(denied, name);

    host.before('before:llm.request', (question) => {
      const { request } = question;
      if (request.tools.every(({ name }) => passes(name)) && (request.allowed ?? []).every(passes)) return undefined;
      const tools = request.tools.filter(({ name }) => passes(name));
      const allowed = request.allowed?.filter(passes);
      return revise({ ...question, request: { ...request, tools, ...(allowed !== undefined && { allowed }) } });
    });
    // What the model was not shown it may still ask for, or ask another tool to call.
    host.before('before:tool.invoke', ({ tool: { name } }) =>
      passes(name) ? undefined : deny(`the tool ${name} is switched off by gate.tool_filter`, 'tool_filtered'),
    );
  },
});

function matches(patterns: readonly string[], name: string): boolean {
  return patterns.some((pattern) => matchesGlob(pattern, name));
}
