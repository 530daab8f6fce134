import { z } from 'zod';
import { TRANSCRIPT_FORMATS, transcriptOf } from '../../assembly/transcript-export.ts';
import { digest } from '../../base/digest.ts';
import { key, requiredKey } from '../../domain/bundle-key.ts';
import { emptyTimeline, entriesOf, project } from '../../domain/timeline.ts';
import { definePlugin, type LogReader, type Plugin } from '../../kernel/plugin.ts';

/** Writes files of one folder, each whole or not at all. */
export interface FolderWriter {
  write(name: string, text: string): Promise<void>;
}

const config = z.strictObject({
  folder: requiredKey(
    z.string().min(1),
    'Where the files are written, from where the process was started. Made where it is not there.',
  ),
  format: key(z.enum(TRANSCRIPT_FORMATS), '`md` for people, `jsonl` for programs: an entry a line.', { default: 'md' }),
});

const PAGE = 1_000;

/** Writes what `treadle runs export` prints, each time a run ends: one file a run, which its next turn replaces. */
export function transcriptObserver(open: (folder: string) => FolderWriter): Plugin<z.infer<typeof config>> {
  return definePlugin({
    id: 'observer.transcript',
    about: 'Writes a transcript of each run into a folder when the run ends, as Markdown or JSON lines.',
    config,
    example: { folder: './transcripts', format: 'md' },
    setup(host, { folder, format = 'md' }) {
      const { log, logger } = host;
      const writer = open(folder);
      const underway = new Map<string, Promise<void>>();
      /** Runs that have ended once more while they were written. */
      const again = new Set<string>();

      async function write(reader: LogReader, id: string): Promise<void> {
        const row = await reader.find(id);
        if (row === undefined) return; // removed meanwhile
        let timeline = emptyTimeline;
        for (;;) {
          const page = await reader.read(id, timeline.head, PAGE);
          for (const fact of page) timeline = project(timeline, fact);
          if (page.length < PAGE) break;
        }
        const agent = row.agentPath.slice(row.agentPath.lastIndexOf('/') + 1);
        const end = entriesOf(timeline).findLast(({ role }) => role === 'end');
        const status = end?.role === 'end' ? end.data.status : row.status;
        const about = { ...row, agent, status };
        await writer.write(`${fileName(id)}.${format}`, [...transcriptOf(about, entriesOf(timeline), format)].join(''));
      }

      async function keepUp(reader: LogReader, id: string): Promise<void> {
        try {
          do {
            again.delete(id);
            await write(reader, id);
          } while (again.has(id));
        } catch (error) {
          logger.error('a transcript could not be written', { conversation: id, error });
        } finally {
          underway.delete(id);
        }
      }

      host.on(
        'agent.turn.end',
        ({ conversationId: id }) => {
          if (log === undefined) return;
          if (underway.has(id)) again.add(id);
          else
            underway.set(
              id,
              Promise.resolve().then(() => keepUp(log, id)),
            );
        },
        { patient: true },
      );
      host.finish(async () => {
        await Promise.all(underway.values());
      });
    },
  });
}

/** Ids are safe as they are, but for those that a program chose. */
function fileName(id: string): string {
  return /^[A-Za-z0-9_-][A-Za-z0-9._-]{0,99}$/.test(id) ? id : digest(id).slice(0, 32);
}
