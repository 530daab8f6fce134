import { transcriptOf } from '../../assembly/transcript-export.ts';
import { entriesOf, emptyTimeline, project } from '../../domain/timeline.ts';
import type { Fact } from '../../domain/event.ts';
import type { Log } from '../../kernel/log.ts';
import type { Context } from '../context.ts';
import type { Outcome } from '../exit-codes.ts';
import { findRun, openLog } from '../open.ts';
import { story } from '../story.ts';

export interface ShowOptions {
  readonly log?: boolean;
  readonly json?: boolean;
  /** For a file: `md` for people, `jsonl` for programs. */
  readonly format?: 'md' | 'jsonl';
  readonly data?: string;
}

/** Prints one run: as a story, as its entries, or as the raw facts. */
export async function show({ terminal, environment }: Context, named: string, options: ShowOptions): Promise<Outcome> {
  const { log } = await openLog({ data: options.data, reads: true, environment });
  try {
    const row = await findRun(log, named);
    if (options.log === true) {
      for await (const fact of factsOf(log, row.id)) terminal.out.write(`${JSON.stringify(fact)}\n`);
      return 'completed';
    }
    let timeline = emptyTimeline;
    for await (const fact of factsOf(log, row.id)) timeline = project(timeline, fact);
    const entries = entriesOf(timeline);
    if (options.format !== undefined) {
      for (const text of transcriptOf(row, entries, options.format)) terminal.out.write(text);
    } else if (options.json === true) terminal.out.write(`${JSON.stringify({ ...row, entries })}\n`);
    else {
      const lines = story(row, entries, { colors: terminal.colors, columns: terminal.columns() });
      terminal.out.write(lines.map((line) => `${line}\n`).join(''));
    }
    return 'completed';
  } finally {
    await log.close();
  }
}

const PAGE = 500;

/** Every fact of a run, in order. */
export async function* factsOf(log: Pick<Log, 'read'>, id: string): AsyncGenerator<Fact> {
  for (let after = 0; ;) {
    const page = await log.read(id, after, PAGE);
    yield* page;
    const last = page.at(-1);
    if (last === undefined) return;
    after = last.seq;
  }
}
