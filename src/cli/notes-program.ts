import type { Command } from 'commander';
import type { EditNoteOptions, NoteOptions } from './commands/notes.ts';
import type { Context } from './context.ts';
import type { Outcome } from './exit-codes.ts';
import { withServer } from './runs-program.ts';

const EXAMPLES = `
Examples
  $ treadle notes list
  $ treadle notes search green tea
  $ treadle notes edit n_0f3a9c1d2b "Ana drinks green tea." --pin
  $ treadle notes delete n_0f3a9c1d2b
  $ treadle notes export > notes.jsonl

They are those of the server that is named or up; without one, those that runs
in this terminal keep in the data folder or DATABASE_URL. Who can read that
folder or database may see and change every user's notes there, with --user.`;

/** What agents remember of whoever asks. */
export function addNotes(program: Command, context: Context, finish: (outcome: Outcome) => void): void {
  const load = () => import('./commands/notes.ts');
  const notes = program
    .command('notes')
    .description('what agents remember of you: see, put right, delete and export it')
    .addHelpText('after', EXAMPLES);
  const add = (usage: string, about: string): Command =>
    withServer(notes.command(usage).description(about))
      .option('--bundle <id>', 'of this app alone')
      .option('--user <id>', 'another user’s: of a server for a key with the scope admin, here for whoever runs this');
  add('list', 'list them, pinned ones first, then the last changed ones').action(async (options: NoteOptions) =>
    finish(await (await load()).listNotes(context, [], options)),
  );
  add('search <words...>', 'list those that have some words, the best first').action(
    async (words: string[], options: NoteOptions) => finish(await (await load()).listNotes(context, words, options)),
  );
  add('show <id>', 'print one as it is').action(async (id: string, options: NoteOptions) =>
    finish(await (await load()).showNote(context, id, options)),
  );
  add('edit <id> [text...]', 'put one right')
    .option('--pin', 'tell it to the agent in every conversation')
    .option('--no-pin', 'have it searched for')
    .action(async (id: string, text: string[], options: EditNoteOptions) =>
      finish(await (await load()).editNote(context, id, text, options)),
    );
  add('delete <id...>', 'forget some for good').action(async (ids: string[], options: NoteOptions) =>
    finish(await (await load()).deleteNotes(context, ids, options)),
  );
  add('export', 'print all of them, one JSON object a line').action(async (options: NoteOptions) =>
    finish(await (await load()).exportNotes(context, options)),
  );
}
