// docs/run-api.md, made of the route tables, the codes and the schemas that go over the wire.
import { refusalsOf, SURFACES } from '../../src/http/openapi.ts';
import {
  answer,
  createRun,
  delivery,
  sayToRun,
  entry,
  errorReply,
  frame,
  openRequest,
  page,
  RETRYABLE,
  snapshot,
  WIRE_ERRORS,
  type RouteShape,
  type RouteTable,
  type WireErrorCode,
} from '../../src/http/wire.ts';
import { z } from 'zod';
import { fieldsOf } from './shape.ts';
import { code, generated, sentence, table } from './table.ts';

/** Codes that any route may answer: they would fill every row. */
const ANY: ReadonlySet<WireErrorCode> = new Set([
  'invalid_token',
  'insufficient_scope',
  'compute_forbidden',
  'rate_limit_exceeded',
  'invalid_request',
  'not_found',
  'invalid_idempotency_key',
  'idempotency_conflict',
  'idempotency_in_progress',
  'body_too_large',
  'unsupported_media_type',
]);

function routes(prefix: string, routeTable: RouteTable): string {
  const rows = Object.values<RouteShape>(routeTable).map((shape) => [
    code(`${shape.method} ${prefix}${shape.path}`),
    shape.about,
    shape.scope === undefined ? '' : code(shape.scope),
    String(shape.status),
    refusalsOf(shape)
      .filter((one) => !ANY.has(one))
      .map(code)
      .join(', '),
  ]);
  return table(['Route', 'Does', 'Scope', 'Status', 'Refuses with'], rows);
}

function fields(schema: z.ZodType): string {
  const rows = fieldsOf(schema, new Map()).map(({ name, optional, type }) => {
    const value: unknown = schema instanceof z.ZodObject ? schema.shape[name] : undefined;
    const about = value instanceof z.ZodType ? (value.meta()?.description ?? '') : '';
    return [code(name), optional ? 'optional' : '', short(type), about];
  });
  return table(['Field', '', 'Is', ''], rows);
}

/** A type that is an object of its own is told elsewhere. */
function short(type: string): string {
  return type.length <= 160 ? type : 'see the reference';
}

export function renderRunApiDoc(): string {
  const codes = Object.entries(WIRE_ERRORS).map(([one, { status, about }]) => [
    code(one),
    one === 'invalid_request' ? `${status} or 422` : String(status),
    about,
    RETRYABLE.has(one as WireErrorCode) ? 'yes' : '', // a key of the table
  ]);
  /** The routes under one prefix that are of these tags. */
  const of = (...wanted: readonly string[]): string => {
    const shapes = SURFACES.filter(({ tag }) => wanted.includes(tag));
    const [prefix = ''] = shapes.map((one) => one.prefix);
    return routes(prefix, Object.fromEntries(shapes.flatMap((one) => Object.entries(one.table))));
  };
  const [runs, agents, operations] = [
    of('Runs', 'Images', 'Choices'),
    of('Agents (requirement wire)'),
    of('Operations'),
  ];
  const frames = frame.options.map((one) => {
    const { type, ...rest } = one.shape as Record<string, z.ZodType>;
    const name = type instanceof z.ZodLiteral ? String(type.value) : '';
    return [code(name), Object.keys(rest).map(code).join(', '), FRAMES[name] ?? ''];
  });
  return `# The run API

${generated('src/http/wire.ts')}
${code('treadle serve BUNDLE…')} answers it; ${code('/api/docs')} of a running server shows every schema, and ${code('/api/openapi.json')} is the
same for programs. A run is a conversation seen from outside: it goes on when nobody looks, and when its server is ended
and started again.

\`\`\`sh
treadle serve agents/desk.yaml
curl -s localhost:4114/api/v1/runs -H 'content-type: application/json' -d '{"prompt": "note: call Bo"}'
curl -N localhost:4114/api/v1/runs/RUN/stream
curl -s localhost:4114/api/v1/runs/RUN/answers -H 'content-type: application/json' \\
  -d '[{"request": "t1-2-1-a1", "digest": "…", "decision": "allow"}]'
\`\`\`

## Runs

${runs}
### A run

${fields(snapshot)}
### Beginning one

${fields(createRun)}
### A request to a person

${fields(openRequest)}
### An answer

${fields(answer)}
Several answers go in one list. All are checked before the first counts; one that was given before gives the answer on
record. Refusing and replying need the scope ${code('run')}, allowing and editing ${code('approve')}.

### A message

What is sent to ${code('POST /runs/{id}/messages')}; a run is begun with ${code('prompt')}, and goes on with ${code('content')}.

${fields(sayToRun)}
### The result of a computation

${fields(delivery)}
## The page

${fields(page)}
An event of a page is an entry:

${fields(entry)}
- Entries are a fold of the log. One that changes keeps its ${code('id')} and its ${code('position')} and gets a new ${code('digest')} and ${code('revision')}:
  keep a map from id to the newest, and a reader never shows a draft beside the final text.
- The first read goes through the conversation in order, as of the moment it began. After that the cursor means *newer
  than*: every entry that is new or has changed comes once, in its newest form, wherever it stands.
- A cursor is opaque, signed, and good for as long as the run is kept. An empty page has one too.
- ${code('terminal')} with ${code('hasMore')} happens: read on before believing that you have seen the end.

## The stream

${code('GET …/stream')} sends the same entries as server-sent events: ${code('event')} is the type of the frame, ${code('data')} the frame, ${code('id')} its cursor.
A reader that comes back with ${code('Last-Event-ID')}, as browsers do by themselves, or with ${code('cursor')}, misses nothing. A comment
comes every 10 seconds. A reader that is slow slows nobody: its deltas are dropped, and a ${code('gap')} says how many. Entries are
never dropped.

${table(['Frame', 'Has', 'Means'], frames)}
## Doing it once

Every route that changes something takes an ${code('Idempotency-Key')}: 1 to 160 of ${code('A-Za-z0-9._:-')}, kept 24 hours with the reply, apart
for each user, operation and run. The same key with the same request gives the same reply, with ${code('Idempotency-Replayed: true')}; with
another request ${code('idempotency_conflict')}; while the first is at work ${code('idempotency_in_progress')}. A refusal is not kept: nothing came of
it. What the key stands for comes about once also when the server is killed between the effect and the reply.

## Who may

A key goes into ${code('Authorization: Bearer sk-…')}. ${code('treadle keys create')} makes one, shows it once and keeps its hash. ${code('admin')} is every
scope, for every run of the tenant. A key made with ${code('--compute')} is for a sandbox and may touch no run. With ${code('--oidc-issuer')}, tokens
of an OpenID Connect issuer are let in too; ${code('scope')} in the token says what they may do.

Until a key was made, the server listens on this machine only, knows one user, ${code('local')}, and refuses requests that a page of
another site sent or that came under another name than the machine's own. From the first key on, nobody is let in
without one. Pages of other sites are let in where ${code('--cors')} names them.

## Errors

Every one has the same shape, and its status and code never change their meaning. ${code('invalid_request')} is 400 where the
address, a parameter or a header is malformed or the body cannot be read, and 422 where the body is JSON and does not fit.

${fields(errorReply.shape.error)}
${table(['Code', 'Status', 'Means', 'Retry'], codes)}
## The requirement wire

The same runs for clients that were written for an earlier API: the run stands under ${code('agent')}, everything malformed is 400
${code('invalid_request')}, only keys are let in, and approving names no request.

${agents}
## Operations

${operations}`;
}

const FRAMES: Readonly<Record<string, string>> = {
  entry: sentence('an entry that is new or has changed'),
  delta: sentence('a piece of an entry that is being made; only with `deltas=true`'),
  activity: sentence('what the agent is doing just now; only with `deltas=true`'),
  status: sentence('the state of the run: the first frame, and again whenever it changes'),
  gap: sentence('the reader was slow, and so many deltas were dropped'),
  end: sentence('the run has ended and everything was sent'),
};
