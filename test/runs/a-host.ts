import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { systemClock, type Clock } from '../../src/base/clock.ts';
import type { Log } from '../../src/kernel/log.ts';
import { createScriptedModel } from '../../src/adapters/models/scripted.ts';
import type { Script } from '../../src/adapters/models/script.ts';
import { createMemoryLog } from '../../src/adapters/stores/memory.ts';
import { createHost, type Host, type HostOptions } from '../../src/platform/hosting/host.ts';
import type { Caller, Scope } from '../../src/platform/runs/caller.ts';
import type { Snapshot } from '../../src/platform/runs/snapshot.ts';

/** Mails go out only when a person agrees; looks need nobody. What was really sent is in `sent`. */
const TOOLS = `
const object = (properties) => ({ type: 'object', properties, required: Object.keys(properties), additionalProperties: false });
export const mail = {
  name: 'mail', description: 'Sends a mail.', effect: 'once', input: object({ to: { type: 'string' } }),
  run: ({ to }) => { globalThis.treadleTestMail?.push(to); return 'sent to ' + to; },
};
export const look = {
  name: 'look', description: 'Looks.', effect: 'read', input: object({}),
  run: () => 'seen',
};
`;

/** Several actions at once; further settings come after the first lines. */
export const aBundle = (more = '', behaviour = 'parallel_tools: true'): string => `
id: post
${more}
config: { react: { main: { ${behaviour} } } }
surfaces:
  as_consumer:
    agents:
      main:
        tools:
          - { name: post, kind: module, module: ./post.tool.js, tool_traits: { mail: { approval: ask } } }
models:
  balanced: { provider: scripted, model: scripted }
`;

export interface HostFixture {
  readonly host: Host;
  readonly log: Log;
  readonly sent: string[];
  /** Waits until the run says this of itself. */
  readonly until: (id: string, holds: (run: Snapshot) => boolean) => Promise<Snapshot>;
  /** Another process over the same log. Closed with this one. */
  readonly another: (more?: Partial<HostOptions>) => Promise<Host>;
}

export interface FixtureOptions extends Partial<Omit<HostOptions, 'log'>> {
  readonly script?: Script;
  readonly bundle?: string;
  readonly log?: Log;
  /** Nothing is driven when false. */
  readonly drives?: boolean;
}

export const ana = aCaller();

export function aCaller(more: Partial<Caller> = {}, ...scopes: readonly Scope[]): Caller {
  const given = scopes.length === 0 ? (['read', 'run', 'approve'] as const) : scopes;
  return { userId: 'ana', tenant: 'local', kind: 'user', scopes: new Set(given), ...more };
}

export async function withHost(options: FixtureOptions, test: (fixture: HostFixture) => Promise<void>): Promise<void> {
  const { script = [{ text: 'Done.' }], bundle = aBundle(), drives = true, clock = systemClock, ...more } = options;
  const folder = mkdtempSync(path.join(tmpdir(), 'treadle-host-'));
  writeFileSync(path.join(folder, 'post.yaml'), bundle);
  writeFileSync(path.join(folder, 'post.tool.js'), TOOLS);
  mkdirSync(path.join(folder, 'other'));
  const log = options.log ?? createMemoryLog({ clock });
  const model = createScriptedModel(script, { clock });
  const sent: string[] = [];
  Object.assign(globalThis, { treadleTestMail: sent });
  const common = { environment: {}, models: { open: () => model }, secret: 'secret', clock, ...more };
  const open = async (and: Partial<HostOptions> = {}): Promise<Host> =>
    createHost({ bundles: [path.join(folder, 'post.yaml')], ...common, ...and, log: shared(and.log ?? log) });
  const hosts = [await open()];
  const [host] = hosts as [Host]; // just made
  try {
    if (drives) await host.start();
    await test({
      host,
      log,
      sent,
      until: (id, holds) => until(host, clock, id, holds),
      async another(and) {
        const made = await open(and);
        hosts.push(made);
        return made;
      },
    });
  } finally {
    for (const one of hosts.reverse()) await one.close({ drainMs: 100 });
    rmSync(folder, { recursive: true, force: true });
  }
}

/** A log that stays open when one of its hosts is closed. */
function shared(log: Log): Log {
  return { ...log, close: () => undefined };
}

async function until(host: Host, _clock: Clock, id: string, holds: (run: Snapshot) => boolean): Promise<Snapshot> {
  const deadline = AbortSignal.timeout(5_000);
  const frames = await host.runs.follow(aCaller({}, 'admin'), id, { until: 'removed', signal: deadline });
  for await (const _ of frames) {
    const run = await host.runs.snapshot(aCaller({}, 'admin'), id);
    if (holds(run)) return run;
  }
  const last = await host.runs.snapshot(aCaller({}, 'admin'), id);
  assert.fail(`the run never came to it; it is ${JSON.stringify({ status: last.status, error: last.error })}`);
}
