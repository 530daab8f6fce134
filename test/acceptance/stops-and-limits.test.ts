// Acceptance cases 32 to 34 and 36 to 41: stopping, speaking while it runs, and running out.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RunEntry, RunRequest, Snapshot } from '../../src/client/index.ts';
import { act, aHouse, does, mails, type House, type Reply } from './house.ts';

const stop = (house: House, id: string): Promise<Reply> => house.call('POST', `/api/v1/runs/${id}/stop`);
const ended = ({ terminal }: Snapshot): boolean => terminal;

async function say(house: House, id: string, content: string, mode?: string): Promise<void> {
  const { status } = await house.call('POST', `/api/v1/runs/${id}/messages`, { body: { content, mode } });
  assert.equal(status, 202);
}

async function actions(house: House, id: string): Promise<readonly RunEntry[]> {
  const { events } = await house.page(id, { limit: 100 });
  return events.filter(({ role }) => role === 'action');
}

function outcomeOf({ data }: RunEntry): unknown {
  return (data as { observation?: { outcome: string } }).observation?.outcome;
}

test('32 Stop in each non-terminal status; twice; on a terminal run (409 or repeat, fixed)', async (t) => {
  const house = await aHouse(t);
  const waits: readonly (readonly [status: string, prompt: string, agent?: string])[] = [
    ['pending_action_approval', mails],
    ['pending_plan_approval', 'hello', 'planner'],
    ['awaiting_user_input', does({ actions: [act('ask_user', { question: 'Which?' })] })],
    ['waiting_for_computation', does({ actions: [act('job', { ticket: 't1' })] })],
    [
      'waiting_for_subagents',
      does({ actions: [act('delegate', { agent: 'clerk', task: does({ actions: [act('job', { ticket: 't2' })] }) })] }),
      'chief',
    ],
    ['running', does({ actions: [act('slow')] })],
  ];
  for (const [status, prompt, agent = 'main'] of waits) {
    const id = await house.begin(prompt, { agent });
    await house.until(id, (run) => run.status === status);
    const [first, second] = [await stop(house, id), await stop(house, id)];
    const end = await house.until(id, ended);
    const third = await stop(house, id);
    assert.deepEqual(
      [status, first.status, second.status, end.status, third.status],
      [status, 202, 202, 'stopped', 202],
    );
    assert.equal(third.body['version'], (await house.snapshot(id)).version);
  }
  const idle = await aHouse(t, { drives: false });
  const id = await idle.begin('hello');
  assert.equal((await idle.snapshot(id)).status, 'initializing');
  await stop(idle, id);
  await idle.replica({ drives: true });
  assert.equal((await idle.until(id, ended)).status, 'stopped');
});

test('33 Stop with three nested children: all end', async (t) => {
  const house = await aHouse(t);
  const hand = (agent: string, task: string): string => does({ actions: [act('delegate', { agent, task })] });
  const id = await house.begin(hand('chief', hand('chief', hand('clerk', mails))), { agent: 'chief' });
  const { requests } = await house.until(id, (run) => run.requests.length === 1);
  const line = [id];
  for (let at = id; ;) {
    const [child] = (await house.snapshot(at)).children;
    if (child === undefined) break;
    line.push((at = child.id));
  }
  assert.deepEqual([line.length, requests[0]?.run], [4, line.at(-1)]);
  await stop(house, id);
  for (const one of line) assert.equal((await house.until(one, ended)).status, 'stopped');
  assert.deepEqual(house.did, []);
});

test('34 Stop between call and result: each open call gets a result; the thread accepts the next message', async (t) => {
  const house = await aHouse(t);
  const id = await house.begin(does({ actions: [act('slow'), act('mail', { to: 'Bo' }), act('look')] }));
  await house.until(id, ({ requests }) => requests.length === 1 && house.did.includes('slow began'));
  await stop(house, id);
  await house.until(id, ended);
  const outcomes = (await actions(house, id)).map(outcomeOf);
  assert.deepEqual([outcomes.length, outcomes.includes(undefined), outcomes.at(-1)], [3, false, 'ok']);
  await say(house, id, 'and now?');
  const { answer, status } = await house.until(id, (run) => run.turns === 2 && run.terminal);
  assert.deepEqual([status, answer], ['completed', 'You said: and now?']);
});

test('36 Message while running under each policy', async (t) => {
  const house = await aHouse(t);
  for (const mode of ['followup', 'steer', 'message'] as const) {
    const id = await house.begin(mails);
    const { requests } = await house.until(id, (run) => run.requests.length === 1);
    await say(house, id, 'word', mode);
    if (mode === 'steer') {
      // The held action is set aside, and the model goes on with the word.
      const { answer } = await house.until(id, ended);
      assert.equal(answer, 'You said: word');
      continue;
    }
    const [request] = requests as [RunRequest];
    assert.equal((await house.snapshot(id)).requests.length, 1);
    const body = [{ request: request.id, digest: request.digest, decision: 'reject' }];
    await house.call('POST', `/api/v1/runs/${id}/answers`, { body });
    const turns = mode === 'message' ? 2 : 1;
    const { answer } = await house.until(id, (run) => run.terminal && run.turns === turns);
    assert.deepEqual([mode, answer], [mode, 'You said: word']);
  }
  assert.deepEqual(house.did, []);
});

test('37 Message to a finished run: a new turn of it, linked by its number', async (t) => {
  const house = await aHouse(t);
  const id = await house.begin('one');
  await house.until(id, ended);
  await say(house, id, 'two');
  const { turns, answer } = await house.until(id, (run) => run.terminal && run.turns === 2);
  assert.deepEqual([turns, answer], [2, 'You said: two']);
  const { events } = await house.page(id, { limit: 100 });
  const shown = events.filter(({ role }) => role === 'user' || role === 'end');
  assert.deepEqual(
    shown.map(({ turn, text }) => [turn, text]),
    [
      [1, 'one'],
      [1, 'completed'],
      [2, 'two'],
      [2, 'completed'],
    ],
  );
});

test('38 Eleven actions in one turn: ten run, and the eleventh is refused and told so; ten run', async (t) => {
  const house = await aHouse(t);
  const looks = (count: number): string => does({ actions: Array.from({ length: count }, () => act('look')) });
  const eleven = await house.begin(looks(11));
  await house.until(eleven, ended);
  const outcomes = (await actions(house, eleven)).map(outcomeOf);
  assert.deepEqual([outcomes.filter((one) => one === 'ok').length, outcomes.length, house.did.length], [10, 11, 10]);
  assert.notEqual(outcomes.at(-1), 'ok');
  const ten = await house.begin(looks(10));
  await house.until(ten, ended);
  assert.equal(house.did.length, 20);
});

test('39 Replayed pending tool: iteration count unchanged', async (t) => {
  const house = await aHouse(t);
  const id = await house.begin(mails);
  await house.until(id, ({ requests }) => requests.length === 1);
  const calls = async (): Promise<number> =>
    (await house.page(id, { limit: 100 })).events.filter(({ role }) => role === 'call').length;
  assert.equal(await calls(), 1);
  await house.call('POST', `/api/v1/nexustrade/agents/${id}/approve`, { body: {} });
  await house.until(id, ended);
  assert.deepEqual([await calls(), house.did], [2, ['mail Bo']]);
});

test('40 Iteration cap 1: one decision', async (t) => {
  const house = await aHouse(t);
  const run = await house.aurora().create(does({ actions: [act('look')] }), 1);
  const { status, stopReason } = await house.until(run.id, ended);
  assert.deepEqual([status, stopReason, house.did], ['max_iterations_reached', 'limit', ['look']]);
  const { events } = await house.page(run.id, { limit: 100 });
  assert.equal(events.filter(({ role }) => role === 'call').length, 1);
});

test('41 Each budget ends as limited with its name; raising it continues', async (t) => {
  const house = await aHouse(t);
  const look = { actions: [act('look')], delayMs: 20 };
  const budgets: Readonly<Record<string, readonly [limits: object, raised: object]>> = {
    max_iterations: [{ maxIterations: 1 }, { maxIterations: 9 }],
    max_actions: [{ maxActions: 1 }, { maxActions: 9 }],
    max_tokens: [{ maxTokens: 1 }, { maxTokens: 1_000_000 }],
    max_wall_ms: [{ wallMs: 1 }, { wallMs: 1_000_000 }],
  };
  for (const [code, [limits, raised]] of Object.entries(budgets)) {
    const id = await house.begin(does(look, look), { limits });
    const { stopReason, error } = await house.until(id, ended);
    assert.deepEqual([stopReason, error?.code], ['limit', code]);
    await house.client().run(id).resume({ limits: raised });
    const { status, answer, turns } = await house.until(id, ({ terminal, version }) => terminal && version > 0);
    assert.deepEqual([code, status, answer, turns], [code, 'completed', 'Done.', 1]);
  }
});
