import { systemClock } from '../../base/clock.ts';
import { TreadleError } from '../../base/errors.ts';
import type { Platform } from '../../platform/platform.ts';
import { commandName } from '../command-name.ts';
import { findIn } from '../chat-pages.ts';
import type { Context } from '../context.ts';
import { parseDuration } from '../drive-run.ts';
import type { Outcome } from '../exit-codes.ts';
import { inputText } from '../input-text.ts';
import { openLog, openPlatform } from '../open.ts';
import { tell, type TellOptions } from '../tell-run.ts';
import { harmless } from '../text.ts';
import { approvalPolicy, watchRun, type ApprovalPolicy } from '../watch-run.ts';

export interface RunOptions extends TellOptions {
  readonly agent?: string;
  readonly conversation?: string;
  readonly onApproval?: ApprovalPolicy;
  readonly debug?: boolean;
}

/** One message, one answer: the answer alone goes to stdout. */
export async function run(
  context: Context,
  bundle: string,
  words: readonly string[],
  options: RunOptions,
): Promise<Outcome> {
  const { terminal, environment } = context;
  const began = systemClock.now();
  const timeoutMs = options.timeout === undefined ? undefined : parseDuration(options.timeout, '--timeout');
  if (options.memory === true && options.conversation !== undefined) {
    throw new TreadleError('usage', {
      place: '--conversation',
      found: '--memory with it',
      wanted: 'one of the two: a log that is not kept has no earlier conversation',
    });
  }
  const policy = approvalPolicy(context, options);
  const { text, notice } = await inputText(words, terminal.input, timeoutMs);
  const { log, file } = await openLog({ memory: options.memory, data: options.data, environment });
  const platform = await openPlatform({ bundle, log, file, environment, debug: options.debug });
  try {
    const warn = (line: string): void => {
      if (options.quiet !== true) terminal.err.write(`${terminal.errColors.yellow('!')} ${harmless(line)}\n`);
    };
    if (notice !== undefined) warn(notice);
    for (const one of platform.notices) warn(`${one.place}: ${one.text}`);
    const { conversations } = platform;
    const id =
      options.conversation === undefined
        ? (await conversations.start(options.agent === undefined ? {} : { agent: options.agent })).id
        : await continued(platform, options);
    try {
      await conversations.say(id, { text });
    } catch (error) {
      // A message that was refused begins nothing.
      if (options.conversation === undefined) await log.remove(id);
      throw error;
    }
    const left = timeoutMs === undefined ? undefined : Math.max(1, timeoutMs - (systemClock.now() - began));
    const driven = await watchRun(context, platform, id, {
      policy,
      quiet: options.quiet,
      timeoutMs: left,
      // A server of the same folder may have taken the run first: its answer is this one's, too.
      patienceMs: Infinity,
    });
    for (const { account, tools } of driven.conversation.agent?.unmet ?? [])
      warn(
        `${tools.join(', ')} wait${tools.length === 1 ? 's' : ''} for your account: ${commandName()} accounts connect ${account} --bundle ${bundle}`,
      );
    return tell(context, driven, options);
  } finally {
    await platform.close({ drainMs: 0 });
  }
}

async function continued(
  { conversations, bundle }: Platform,
  { conversation = '', agent }: RunOptions,
): Promise<string> {
  const row = await findIn(conversations, conversation);
  if (agent !== undefined && bundle.agentNamed(agent) !== row.agent) {
    throw new TreadleError('usage', {
      place: '--agent',
      found: agent,
      wanted: `${row.agent}, whose conversation it is`,
      hint: 'leave --agent out',
    });
  }
  return row.id;
}
