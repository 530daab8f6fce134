import { statSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { isPromise } from '../../base/promise.ts';
import { withoutSecrets } from '../../base/secrets.ts';
import { createRootedFiles } from '../../adapters/files/rooted.ts';
import type { GuardedFetcher } from '../../adapters/net/guarded-fetch.ts';
import type { Path } from '../../assembly/resolve.ts';
import type { ModuleTools } from '../../domain/inventory.ts';
import { FetchRefusal, type GuardedFetch } from '../../kernel/fetch.ts';
import type { RootedFiles } from '../../kernel/files.ts';
import { handed } from '../../kernel/handed.ts';
import type { ToolContext } from '../../kernel/running-tool.ts';
import { withTexts } from '../../kernel/tool.ts';
import type { CompiledTool } from './catalog.ts';
import type { Declared } from '../bundle/declare.ts';
import type { Problems } from '../bundle/problems.ts';

/** What the tools of one entry may touch, as the bundle says. */
export interface Reach {
  readonly files: RootedFiles | undefined;
  readonly secrets: Readonly<Record<string, string>>;
  readonly fetch: (context: ToolContext) => GuardedFetch;
  close(): Promise<void>;
}

export interface ReachOptions {
  readonly declared: Declared;
  /** That of the bundle. */
  readonly folder: string;
  readonly problems: Problems;
  /** The tools work in a folder, whether the entry names one or not. */
  readonly needsFiles: boolean;
}

/** Bytes of one reply that a tool is handed. */
const MOST_REPLY_BYTES = 8 * 1024 * 1024;

/** The keys of an entry that say what its tools may touch. */
type Granting = Pick<ModuleTools, 'files' | 'fetch' | 'secrets'>;

/** Opens what an entry grants its tools. What cannot be opened is added to `problems`; there is no reach then. */
export function reachOf(entry: Granting, at: Path, options: ReachOptions): Reach | undefined {
  const files = filesOf(entry, at, options);
  if (files === 'missing') return undefined;
  const { allow_hosts: allowHosts, only_hosts: onlyHosts, max_bytes: mostBytes = MOST_REPLY_BYTES } = entry.fetch ?? {};
  let fetcher: Promise<GuardedFetcher> | undefined;
  const open = (): Promise<GuardedFetcher> =>
    (fetcher ??= import('../../adapters/net/guarded-fetch.ts').then(({ createGuardedFetch }) =>
      createGuardedFetch({ allowHosts, onlyHosts, mostBytes }),
    ));
  return {
    files,
    secrets: Object.freeze({ ...entry.secrets }),
    fetch:
      (context) =>
      async (url, { signal, ...init } = {}) => {
        const signals = signal === undefined ? [context.signal] : [context.signal, signal];
        return (await open()).fetch(url, { ...init, signal: AbortSignal.any(signals) });
      },
    async close() {
      const opened = fetcher;
      fetcher = Promise.reject(new FetchRefusal('the bundle was closed'));
      fetcher.catch(() => undefined); // told to whoever asks
      await (await opened)?.close();
    },
  };
}

function filesOf(
  { files: given }: Granting,
  at: Path,
  { declared, folder, problems, needsFiles }: ReachOptions,
): RootedFiles | undefined | 'missing' {
  const wanted = given ?? (needsFiles ? {} : undefined);
  if (wanted === undefined) return undefined;
  const root = wanted.root === undefined ? process.cwd() : path.resolve(folder, wanted.root);
  if (isFolder(root)) {
    const { read_only: readOnly, ignore, max_bytes: mostBytes } = wanted;
    return createRootedFiles({ root, readOnly, ignore, mostBytes });
  }
  const place: Path = [...at, 'files', 'root'];
  problems.add('bundle_unreadable', {
    place: declared.place(place),
    found: `no folder ${declared.quoted(place, wanted.root)}`,
    wanted: 'a folder that exists',
    hint: 'make it, or name another one; a relative path starts in the folder of the bundle',
  });
  return 'missing';
}

function isFolder(file: string): boolean {
  try {
    return statSync(file).isDirectory();
  } catch {
    return false;
  }
}

/** The tools of an entry, each handed what the entry grants. What they say of its secrets is never heard. */
export function withReach(tools: readonly CompiledTool[], reach: Reach): readonly CompiledTool[] {
  const secrets = Object.values(reach.secrets);
  const quiet = secrets.length === 0 ? AS_IT_IS : quieted(withoutSecrets(secrets));
  return tools.map((tool) => {
    const { run, probe, judge, preview } = tool.hands;
    return {
      ...tool,
      hands: {
        ...tool.hands,
        run: (args, context) => quiet.of(() => run(args, reaching(context))),
        ...(probe !== undefined && { probe: (key, context) => quiet.of(() => probe(key, reaching(context))) }),
        ...(judge !== undefined && { judge: (args, context) => quiet.of(() => judge(args, reaching(context))) }),
        ...(preview !== undefined && { preview: (args, context) => quiet.of(() => preview(args, reaching(context))) }),
      },
    };
  });

  function reaching(context: ToolContext): ToolContext {
    return handed(context, {
      fetch: reach.fetch(context),
      secrets: reach.secrets,
      files: reach.files,
      progress: quiet.progress(context.progress),
    });
  }
}

/** What a tool returns, throws and reports, without the secrets it was handed. */
interface Quiet {
  of<T>(act: () => T): T;
  progress(report: ToolContext['progress']): ToolContext['progress'];
}

const AS_IT_IS: Quiet = { of: (act) => act(), progress: (report) => report };

function quieted(clean: (text: string) => string): Quiet {
  const failed = (error: unknown): unknown => {
    if (!(error instanceof Error)) return withTexts(error, clean);
    error.message = clean(error.message);
    return error;
  };
  return {
    of<T>(act: () => T): T {
      try {
        const done = act();
        // The same with other texts in it, whatever it is.
        if (!isPromise(done)) return (done === undefined ? done : withTexts(done, clean)) as T;
        const later = done.then(
          (value: unknown) => (value === undefined ? value : withTexts(value, clean)),
          (error: unknown) => Promise.reject(failed(error) as Error),
        );
        return later as T; // as above
      } catch (error) {
        throw failed(error);
      }
    },
    progress:
      (report) =>
      ({ text, ...rest }) =>
        report(text === undefined ? rest : { ...rest, text: clean(text) }),
  };
}
