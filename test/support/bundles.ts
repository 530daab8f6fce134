import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Assembled, AgentSource } from '../../src/kernel/agent-source.ts';
import type { ConversationMeta } from '../../src/kernel/log.ts';
import type { Conversation } from '../../src/domain/conversation.ts';
import type { Draft, Fact } from '../../src/domain/event.ts';
import { fold } from '../../src/domain/fold.ts';
import { TreadleError } from '../../src/base/errors.ts';
import { builtinGroups } from '../../src/platform/bundle/builtins.ts';
import { loadBundle, type LoadedBundle, type LoadOptions } from '../../src/platform/bundle/load.ts';
import { allPlugins } from '../../src/platform/bundle/all-plugins.ts';

/** The files beside a bundle, by name. */
export type Files = Readonly<Record<string, string | Uint8Array>>;

export const loadOptions: LoadOptions = {
  environment: {},
  builtins: builtinGroups,
  plugins: new Map(allPlugins.map(({ id, config }) => [id, config])),
};

/** Runs with a folder that holds `app.yaml` and the files, and removes it. */
export async function inFolder<T>(
  yaml: string | Uint8Array,
  files: Files,
  run: (file: string, folder: string) => Promise<T>,
): Promise<T> {
  const folder = mkdtempSync(path.join(tmpdir(), 'treadle-bundle-'));
  try {
    for (const [name, content] of Object.entries({ ...files, 'app.yaml': yaml })) {
      const file = path.join(folder, name);
      mkdirSync(path.dirname(file), { recursive: true });
      writeFileSync(file, content);
    }
    return await run(path.join(folder, 'app.yaml'), folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Loads a bundle from its text. The folder is gone afterwards. */
export function load(yaml: string, files: Files = {}, options: Partial<LoadOptions> = {}): Promise<LoadedBundle> {
  return inFolder(yaml, files, (file) => loadBundle(file, { ...loadOptions, ...options }));
}

/** What loading says is wrong, with the folder left out; empty when nothing is. */
export function problemsOf(
  yaml: string | Uint8Array,
  files: Files = {},
  options: Partial<LoadOptions> = {},
): Promise<string> {
  return inFolder(yaml, files, async (file, folder) => {
    try {
      await loadBundle(file, { ...loadOptions, ...options });
      return '';
    } catch (error) {
      if (!TreadleError.is(error)) throw error;
      return error.message.replaceAll(`${folder}${path.sep}`, '');
    }
  });
}

/** Notices with the folder left out, as `place: text`. */
export function noticesOf({ notices, folder }: LoadedBundle): readonly string[] {
  return notices.map(({ place, text }) => `${place.replaceAll(`${folder}${path.sep}`, '')}: ${text}`);
}

export function aMeta(agent: string, more: Partial<ConversationMeta> = {}): ConversationMeta {
  return { id: 'c1', agent, bundle: 'app', userId: 'ana', tenant: 'local', agentPath: agent, createdAt: 0, ...more };
}

/** A conversation whose log holds these facts. */
export function aTalk(drafts: readonly Draft[] = []): Conversation {
  const facts = drafts.map(({ key: _, ...draft }, index): Fact => ({
    ...draft,
    seq: index + 1,
    id: `c1:${index + 1}`,
    v: 1,
    at: 0,
    conversationId: 'c1',
    agentPath: 'main',
  }));
  return fold('c1', 'main', facts);
}

export async function assembled(source: AgentSource, agent: string): Promise<Assembled> {
  return source.assemble(aMeta(agent), aTalk());
}

/** The effective agent of a user without a selection. */
export async function effective(bundle: LoadedBundle, agent = bundle.defaultAgent): Promise<Assembled['agent']> {
  return (await assembled(bundle.agentSource(), agent)).agent;
}
