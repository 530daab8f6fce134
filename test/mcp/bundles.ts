import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { stringify } from 'yaml';
import { createMemoryLog } from '../../src/adapters/stores/memory.ts';
import { systemClock } from '../../src/base/clock.ts';
import type { Conversation } from '../../src/domain/conversation.ts';
import type { Fact, FactPayload, FactType } from '../../src/domain/event.ts';
import type { McpService } from '../../src/domain/mcp.ts';
import type { ModelRequest } from '../../src/domain/model.ts';
import type { ToolMemory } from '../../src/kernel/stores.ts';
import { createPlatform, type Platform } from '../../src/platform/platform.ts';

export interface Desk {
  readonly platform: Platform;
  readonly id: string;
  /** Every model call, as it was sent. */
  readonly seen: ModelRequest[];
  ask(text: string): Promise<Conversation>;
  /** Answers the open request and goes on. */
  answer(decision: 'allow' | 'reject' | 'reply', text?: string): Promise<Conversation>;
  facts(): Promise<readonly Fact[]>;
  all<T extends FactType>(type: T): Promise<readonly FactPayload<T>[]>;
}

export interface DeskOptions {
  readonly services: Readonly<Record<string, McpService>>;
  readonly tools: readonly object[];
  /** One decision for each model call, as a scripted model's file has them. */
  readonly script: readonly object[];
  /** What users have let run; kept with the conversation alone when absent. */
  readonly toolMemory?: ToolMemory;
}

/** A running bundle with one agent, MCP servers and a scripted model. */
export async function atDesk<T>(
  { services, tools, script, ...more }: DeskOptions,
  run: (desk: Desk) => Promise<T>,
): Promise<T> {
  const folder = mkdtempSync(path.join(tmpdir(), 'treadle-mcp-'));
  const file = path.join(folder, 'desk.yaml');
  writeFileSync(path.join(folder, 'script.json'), JSON.stringify(script));
  writeFileSync(
    file,
    stringify({
      surfaces: { as_consumer: { agents: { main: { tools } }, mcp: { services } } },
      models: { balanced: { provider: 'scripted', script: 'script.json' } },
    }),
  );
  const log = createMemoryLog({ clock: systemClock });
  const platform = await createPlatform({ bundle: file, environment: { PATH: process.env['PATH'] }, log, ...more });
  try {
    const seen: ModelRequest[] = [];
    platform.bus.before('before:llm.request', ({ request }) => void seen.push(request), { priority: 1_000 });
    const { id } = await platform.conversations.start();
    const facts = async (): Promise<readonly Fact[]> => log.read(id, 0, 10_000);
    return await run({
      platform,
      id,
      seen,
      async ask(text) {
        await platform.conversations.say(id, { text });
        return platform.conversations.drive(id);
      },
      async answer(decision, text) {
        const { turn } = await platform.conversations.read(id);
        const request = turn?.requests.find((one) => one.answer === undefined)?.request ?? '';
        await platform.conversations.answer(id, {
          request,
          decision,
          by: 'ana',
          ...(text === undefined ? {} : { text }),
        });
        return platform.conversations.drive(id);
      },
      facts,
      async all(type) {
        const found = (await facts()).filter((fact) => fact.type === type);
        return found.map(({ payload }) => payload) as never; // of that type
      },
    });
  } finally {
    await platform.close();
    rmSync(folder, { recursive: true, force: true });
  }
}
