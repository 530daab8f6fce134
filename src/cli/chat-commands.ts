/** What can be typed instead of a message, with what it does. Help and completion are made from it. */
export const CHAT_COMMANDS = {
  '/help': 'this list',
  '/new': 'begin a new conversation',
  '/runs': 'the newest runs',
  '/show': 'this run as a story, or another one: /show RUN',
  '/resume': 'go on where this run stopped or waits, or with another one: /resume RUN',
  '/steer': 'interrupt the agent with a message: /steer TEXT',
  '/model': 'which model answers, and why',
  '/quit': 'leave; the run is kept',
} as const satisfies Record<string, string>;

export type ChatCommandName = keyof typeof CHAT_COMMANDS;

export type Typed =
  | { readonly type: 'nothing' }
  | { readonly type: 'message'; readonly text: string }
  | { readonly type: 'command'; readonly name: ChatCommandName; readonly rest: string }
  | { readonly type: 'unknown'; readonly name: string };

const SHORT: Readonly<Record<string, ChatCommandName>> = {
  '/exit': '/quit',
  '/q': '/quit',
  '/?': '/help',
  '/h': '/help',
};

/** What a line means. A path such as `/etc/hosts` is a message: a command is one word of letters. */
export function readTyped(line: string): Typed {
  const text = line.trim();
  if (text === '') return { type: 'nothing' };
  const [, word = '', rest = ''] = /^(\/[a-z?]+)(?:\s+([\s\S]*))?$/i.exec(text) ?? [];
  if (word === '') return { type: 'message', text };
  const name = SHORT[word.toLowerCase()] ?? word.toLowerCase();
  return isCommand(name) ? { type: 'command', name, rest } : { type: 'unknown', name: word };
}

function isCommand(name: string): name is ChatCommandName {
  return Object.hasOwn(CHAT_COMMANDS, name);
}
