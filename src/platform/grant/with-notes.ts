import type { Clock } from '../../base/clock.ts';
import { isPromise, type MaybePromise } from '../../base/promise.ts';
import type { EffectiveAgent } from '../../domain/agent.ts';
import type { FactPayload } from '../../domain/event.ts';
import { handed } from '../../kernel/handed.ts';
import type { Note, NoteBook, NoteOwner, NotePlace, NoteStore } from '../../kernel/notes.ts';
import type { AgentSource, Assembled } from '../../kernel/agent-source.ts';
import type { ConversationMeta } from '../../kernel/log.ts';
import type { Tool, Toolset } from '../../kernel/running-tool.ts';
import { hotSet } from '../../plugins/tools/notes.ts';
import { askStore, STORE_TIMEOUT_MS } from '../accounts/ask-store.ts';

export interface WithNotesOptions {
  readonly store: NoteStore;
  readonly bundle: string;
  readonly clock: Clock;
}

/** Characters of notes that a turn begins with. */
const HOT_CHARS = 2_000;
/** No more of them are looked at: each takes at least a few characters. */
const MOST_HOT = 100;

/**
 * The same agents, of which those that remember know the hot notes of their user when a turn begins, and have the rest at
 * hand. Notes that cannot be read leave the turn without them, and the log says so.
 */
export function withNotes(source: AgentSource, { store, bundle, clock }: WithNotesOptions): AgentSource {
  const toolsets = new WeakMap<EffectiveAgent, Toolset>();
  const tools = (agent: EffectiveAgent): Toolset => {
    let given = toolsets.get(agent);
    if (given === undefined) toolsets.set(agent, (given = remembering(source.tools(agent), store, bundle)));
    return given;
  };

  function recalled(made: Assembled, { tenant, userId }: ConversationMeta): MaybePromise<Assembled> {
    if (![...source.tools(made.agent).values()].some(({ needsNotes }) => needsNotes)) return made;
    const owner = { tenant, userId, bundle };
    const asked = askStore(() => hotOf(store, owner), clock, STORE_TIMEOUT_MS);
    const use = (answer: Awaited<typeof asked>): Assembled => {
      const payload = answer.ok ? answer.value : { notes: [], total: 0, problem: `the store ${answer.why}` };
      if (payload.total === 0 && !('problem' in payload)) return made;
      return { ...made, facts: [...made.facts, { type: 'memory.recalled', payload }] };
    };
    return isPromise(asked) ? asked.then(use) : use(asked);
  }

  return {
    assemble(meta, conversation) {
      const made = source.assemble(meta, conversation);
      return isPromise(made) ? made.then((one) => recalled(one, meta)) : recalled(made, meta);
    },
    tools,
  };
}

async function hotOf(store: NoteStore, owner: NoteOwner): Promise<FactPayload<'memory.recalled'>> {
  const [notes, total] = await Promise.all([store.listNotes(owner, MOST_HOT), store.countNotes(owner)]);
  return { notes: [...hotSet(notes, HOT_CHARS)], total };
}

function remembering(tools: Toolset, store: NoteStore, bundle: string): Toolset {
  if (![...tools.values()].some(({ needsNotes }) => needsNotes)) return tools;
  return new Map(
    [...tools].map(([name, tool]) => [name, tool.needsNotes === true ? given(tool, store, bundle) : tool]),
  );
}

function given(tool: Tool, store: NoteStore, bundle: string): Tool {
  return {
    ...tool,
    run(args, context) {
      const { tenant, userId } = context;
      return tool.run(args, handed(context, { notes: bookOf(store, { tenant, userId, bundle }) }));
    },
  };
}

function bookOf(store: NoteStore, owner: NoteOwner): NoteBook {
  return {
    saveNote: (note: Note, most: number) => store.saveNote(owner, note, most),
    removeNote: (id: string) => store.removeNote(owner, id),
    findNote: (id: string) => store.findNote(owner, id),
    listNotes: (limit: number, after?: NotePlace) => store.listNotes(owner, limit, after),
    searchNotes: (words: readonly string[], limit: number) => store.searchNotes(owner, words, limit),
    countNotes: () => store.countNotes(owner),
  };
}
