import { isoTime } from '../../base/clock.ts';
import type { Host } from '../../platform/hosting/host.ts';
import type { Handlers } from '../endpoint.ts';
import { callerName } from '../identify.ts';
import { eventOf } from '../sse.ts';
import type { Streams } from '../streams.ts';
import type { runRoutes } from '../wire.ts';

/** The run API, on the runs themselves. Whatever it may not do, they refuse. */
export function runHandlers(
  { runs, agents }: Pick<Host, 'runs' | 'agents'>,
  streams: Streams,
): Handlers<typeof runRoutes> {
  return {
    async createRun({ body: { maxIterations, limits, ...rest } }, { caller, key }) {
      const all = maxIterations === undefined ? limits : { ...limits, maxIterations };
      const { run, fresh } = await runs.create(caller, { ...rest, limits: all, key });
      return { body: run, repeated: !fresh };
    },
    listRuns: async ({ query }, { caller }) => ({ body: await runs.list(caller, query) }),
    readRun: async ({ params }, { caller }) => ({ body: await runs.snapshot(caller, params.id) }),
    readEvents: async ({ params, query }, { caller }) => ({ body: await runs.events(caller, params.id, query) }),
    followRun({ params, query }, { caller, context }) {
      const cursor = context.req.header('last-event-id') ?? query.cursor;
      const open = (signal: AbortSignal) => runs.follow(caller, params.id, { ...query, cursor, signal });
      return streams.answer(context, callerName(caller), open, eventOf);
    },
    readLog: async ({ params, query }, { caller }) => ({ body: await runs.log(caller, params.id, query) }),
    readPrompt: async ({ params: { id, iteration }, query }, { caller }) => ({
      body: await runs.prompt(caller, id, { iteration, turn: query.turn }),
    }),
    async readCalls({ params, query }, { caller }) {
      const { calls, hasMore } = await runs.calls(caller, params.id, query);
      return { body: { calls: calls.map((one) => ({ ...one, at: isoTime(one.at) })), hasMore } };
    },
    async readTranscript({ params, query: { format = 'md' } }, { caller }) {
      const pieces = await runs.transcript(caller, params.id, format);
      const type = format === 'md' ? 'text/markdown; charset=utf-8' : 'application/x-ndjson';
      const name = `${params.id.replaceAll(/[^\w.-]/g, '_')}.${format}`;
      const headers = { 'content-type': type, 'content-disposition': `attachment; filename="${name}"` };
      return new Response(streamOf(pieces), { headers });
    },
    replayRun: async ({ params, body }, { caller }) => ({ body: await runs.replay(caller, params.id, body) }),
    async sayToRun({ params, body }, { caller, key }) {
      const { run, fresh } = await runs.say(caller, params.id, { ...body, key });
      return { body: run, repeated: !fresh };
    },
    answerRun: async ({ params, body }, { caller }) => ({ body: await runs.answer(caller, params.id, body) }),
    deliver: async ({ params, body }, { caller }) => ({ body: await runs.deliver(caller, params.id, body) }),
    tellEvents: async ({ params, body }, { caller }) => ({ body: await runs.tell(caller, params.id, body) }),
    stopRun: async ({ params }, { caller }) => ({ body: await runs.stop(caller, params.id) }),
    resumeRun: async ({ params, body }, { caller }) => ({ body: await runs.resume(caller, params.id, body) }),
    async forkRun({ params, body }, { caller, key }) {
      const { run, fresh } = await runs.fork(caller, params.id, { ...body, key });
      return { body: run, repeated: !fresh };
    },
    renameRun: async ({ params, body }, { caller }) => ({ body: await runs.rename(caller, params.id, body.title) }),
    archiveRun: async ({ params, body }, { caller }) => ({
      body: await runs.archive(caller, params.id, body.archived ?? true),
    }),
    async removeRun({ params }, { caller }) {
      await runs.remove(caller, params.id);
      return undefined;
    },
    listAgents: () => ({ body: { agents: agents() } }),
    readUsage: async ({ query }, { caller }) => ({ body: { rows: await runs.usage(caller, query) } }),
  };
}

const AT_ONCE = 64 * 1024;

/** Text as a body that is made as fast as it is taken. */
function streamOf(pieces: Iterator<string, void>): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  return new ReadableStream({
    pull(controller) {
      let text = '';
      while (text.length < AT_ONCE) {
        const piece = pieces.next();
        if (piece.done !== true) text += piece.value;
        else if (text === '') {
          controller.close();
          return;
        } else break;
      }
      controller.enqueue(encoder.encode(text));
    },
  });
}
