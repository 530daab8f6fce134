import { transcriptOf } from '../../assembly/transcript-export.ts';
import { entriesOf } from '../../domain/timeline.ts';
import { checkedDelivery } from '../hosting/delivery.ts';
import { answer, answerOnly } from './answering.ts';
import { create, say } from './begin.ts';
import { calls } from './calls-of.ts';
import { archive, fork, remove, rename, resume, stop } from './control.ts';
import { follow } from './follow.ts';
import { post, runOf, snapshotNow, type RunsPorts } from './ports.ts';
import { prompt } from './prompt-of.ts';
import { events, list, log } from './reading.ts';
import { replay } from './replaying.ts';
import type { Runs } from './runs.ts';
import { tellEvents } from './tell-events.ts';
import { usage } from './usage-of.ts';

export function createRuns(ports: RunsPorts): Runs {
  return {
    create: (caller, request) => create(ports, caller, request),
    list: (caller, query = {}) => list(ports, caller, query),
    async snapshot(caller, id) {
      await runOf(ports, caller, 'read', id);
      return snapshotNow(ports, id);
    },
    events: (caller, id, query = {}) => events(ports, caller, id, query),
    follow: (caller, id, options = {}) => follow(ports, caller, id, options),
    log: (caller, id, query = {}) => log(ports, caller, id, query),
    prompt: (caller, id, query) => prompt(ports, caller, id, query),
    calls: (caller, id, query = {}) => calls(ports, caller, id, query),
    async transcript(caller, id, format) {
      const row = await runOf(ports, caller, 'read', id);
      const { timeline } = await ports.folds.read(row);
      return transcriptOf({ ...row, agent: ports.served.nameOf(row) }, entriesOf(timeline), format);
    },
    replay: (caller, id, request = {}) => replay(ports, caller, id, request),
    say: (caller, id, message) => say(ports, caller, id, message),
    answer: (caller, id, answers) => answer(ports, caller, id, answers),
    approve: (caller, id) => answerOnly(ports, caller, id, 'allow'),
    reject: (caller, id, note) => answerOnly(ports, caller, id, 'reject', note),
    stop: (caller, id) => stop(ports, caller, id),
    resume: (caller, id, options = {}) => resume(ports, caller, id, options),
    fork: (caller, id, options = {}) => fork(ports, caller, id, options),
    archive: (caller, id, archived = true) => archive(ports, caller, id, archived),
    rename: (caller, id, title) => rename(ports, caller, id, title),
    remove: (caller, id) => remove(ports, caller, id),
    async deliver(caller, id, delivery) {
      const row = await runOf(ports, caller, 'run', id);
      const { conversation } = await ports.folds.read(row);
      await post(ports, row, checkedDelivery(conversation, delivery, caller.userId));
      return snapshotNow(ports, id);
    },
    tell: (caller, id, told) => tellEvents(ports, caller, id, told),
    usage: (caller, query) => usage(ports, caller, query),
  };
}
