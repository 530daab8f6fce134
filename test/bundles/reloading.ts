import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { systemClock } from '../../src/base/clock.ts';
import { isPromise } from '../../src/base/promise.ts';
import type { Fact, FactOf, FactType } from '../../src/domain/event.ts';
import type { ModelRequest } from '../../src/domain/model.ts';
import type { Log } from '../../src/kernel/log.ts';
import type { Logger } from '../../src/kernel/logger.ts';
import { createScriptedModel } from '../../src/adapters/models/scripted.ts';
import type { Script } from '../../src/adapters/models/script.ts';
import { createMemoryLog } from '../../src/adapters/stores/memory.ts';
import { createHost, type Host, type HostOptions } from '../../src/platform/hosting/host.ts';
import type { OpenBundle } from '../../src/platform/bundle/open-bundle.ts';
import { ana } from '../runs/a-host.ts';
import { inFolder } from '../support/bundles.ts';

/** One agent with a tool that may be the moment of an edit. */
export const yaml = (prompt: string, more = ''): string => `
id: app
config: { react: { main: { system_prompt: ${prompt} } } }
surfaces: { as_consumer: { agents: { main: { tools: [{ name: slow, kind: module, module: ./slow.js }] } } } }
models: { balanced: { provider: scripted, model: scripted } }
${more}
`;
export const tool = (says: string): string => `
export const wait = { name: 'wait', description: 'Waits.', effect: 'read', input: { type: 'object', properties: {} },
  run: async () => { await globalThis.treadleReload?.(); return '${says}'; } };
`;

export interface Setting {
  /** Writes the bundle, and files beside it by their names. */
  readonly edit: (text: string, files?: Readonly<Record<string, string>>) => void;
  readonly host: Host;
  readonly log: Log;
  readonly bundle: OpenBundle;
  readonly file: string;
  readonly folder: string;
  /** Says something, waits until nothing is to do, and gives what the model was shown first. */
  readonly turn: (
    text: string,
    id?: string,
    agent?: string,
  ) => Promise<{ readonly id: string; readonly requests: readonly ModelRequest[] }>;
  /** Waits until nothing of a run is to do. */
  readonly settled: (id: string) => Promise<void>;
  readonly facts: <T extends FactType>(id: string, type: T) => Promise<readonly FactOf<T>['payload'][]>;
  readonly lines: string[];
  /** What the first tool that runs does, once. */
  readonly meanwhile: (work: () => Promise<void>) => void;
}

export interface SettingOptions extends Partial<HostOptions> {
  readonly text?: string;
  readonly files?: Readonly<Record<string, string>>;
  /** The models that the bundle declares, and no script in their place. */
  readonly ownModels?: boolean;
}

/** A host that drives a bundle in a folder of its own. */
export async function setting(
  script: Script,
  run: (setting: Setting) => Promise<void>,
  { text = yaml('One.'), files = {}, ownModels = false, ...more }: SettingOptions = {},
): Promise<void> {
  await inFolder(text, { 'slow.js': tool('first'), ...files }, async (file, folder) => {
    const requests: ModelRequest[] = [];
    const inner = createScriptedModel(script, { clock: systemClock });
    const models = {
      open: () => ({
        call: (...given: Parameters<typeof inner.call>) => (requests.push(given[0]), inner.call(...given)),
      }),
    };
    const lines: string[] = [];
    const said = (message: string): void => void lines.push(message);
    const logger: Logger = { debug: () => undefined, info: said, warn: said, error: said };
    const log = createMemoryLog({ clock: systemClock });
    const own = ownModels ? {} : { models };
    const host = await createHost({ bundles: [file], log, secret: 's', environment: {}, ...own, logger, ...more });
    await host.start();
    const [bundle] = host.bundles;
    assert.ok(bundle !== undefined);
    const settled = async (id: string): Promise<void> => {
      for await (const _ of await host.runs.follow(ana, id, { until: 'removed' }))
        if ((await host.runs.snapshot(ana, id)).statusKind !== 'working') break;
    };
    try {
      await run({
        settled,
        ...{ host, log, bundle, file, folder, lines },
        edit(next, beside = {}) {
          for (const [name, content] of Object.entries({ ...beside, 'app.yaml': next })) {
            mkdirSync(path.dirname(path.join(folder, name)), { recursive: true });
            writeFileSync(path.join(folder, name), content);
          }
        },
        async turn(said, known, agent) {
          const before = requests.length;
          const { run: begun } =
            known === undefined
              ? await host.runs.create(ana, { prompt: said, ...(agent !== undefined && { agent }) })
              : await host.runs.say(ana, known, { content: said });
          const { id } = begun;
          await settled(id);
          return { id, requests: requests.slice(before) };
        },
        async facts(id, type) {
          const read = log.read(id, 0, 1_000);
          const all: readonly Fact[] = isPromise(read) ? await read : read;
          return all.flatMap((fact) => (fact.type === type ? [fact.payload] : [])) as never; // of this type, by the filter
        },
        meanwhile(work) {
          let isDone = false;
          Object.assign(globalThis, {
            async treadleReload() {
              if (isDone) return;
              isDone = true;
              await work();
            },
          });
        },
      });
    } finally {
      Reflect.deleteProperty(globalThis, 'treadleReload');
      await host.close({ drainMs: 100 });
    }
  });
}
