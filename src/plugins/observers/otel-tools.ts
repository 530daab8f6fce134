import type { Host } from '../../kernel/plugin.ts';
import type { Labels, Telemetry } from '../../kernel/telemetry.ts';
import { TOOL_DURATION } from './gen-ai.ts';
import { observationContent, written } from './gen-ai-content.ts';
import { recordTime, type SliceOf } from './otel-slice.ts';

/** A span for each tool that ran, within its slice or the program that has called it. */
export function tellTools(
  host: Pick<Host, 'on'>,
  telemetry: Telemetry,
  { slice, content }: { readonly slice: SliceOf; readonly content: boolean },
): void {
  const patient = { patient: true };

  host.on(
    'tool.invoke',
    (fact) => {
      const open = slice(fact);
      if (open === undefined) return;
      const { action, name, effect, parent } = fact.payload;
      // What a program has called lies within the program.
      const above = parent === undefined ? undefined : open.tools.get(parent)?.span;
      const labels: Labels = { 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': name };
      const span = telemetry.start({
        name: `execute_tool ${name}`,
        kind: 'internal',
        at: fact.at,
        labels: {
          ...labels,
          'gen_ai.tool.call.id': action,
          'gen_ai.tool.type': 'function',
          'gen_ai.conversation.id': fact.conversationId,
          'treadle.tool.effect': effect,
          ...(content ? { 'gen_ai.tool.call.arguments': written(fact.payload.arguments) } : {}),
        },
        parent: above ?? open.span,
      });
      open.tools.set(action, { span, at: fact.at, labels });
    },
    patient,
  );

  host.on(
    'tool.result',
    (fact) => {
      const open = slice(fact);
      if (open === undefined) return;
      const { action, outcome, error: said, ...rest } = fact.payload;
      const type = outcome === 'ok' ? undefined : (said?.code ?? outcome);
      const tool = open.tools.get(action);
      if (tool === undefined) {
        // It never ran here: refused, or begun in another process.
        open.span.event('treadle.tool.not_run', fact.at, {
          'gen_ai.tool.call.id': action,
          'treadle.tool.outcome': outcome,
          'error.type': type,
        });
        return;
      }
      open.tools.delete(action);
      tool.span.set({ 'treadle.tool.outcome': outcome });
      if (content)
        tool.span.set({
          'gen_ai.tool.call.result': observationContent({
            outcome,
            ...rest,
            ...(said === undefined ? {} : { error: said }),
          }),
        });
      tool.span.end(fact.at, type === undefined ? undefined : { type, message: said?.message });
      recordTime(telemetry, TOOL_DURATION, tool.at, fact.at, { ...tool.labels, 'error.type': type });
    },
    patient,
  );
}
