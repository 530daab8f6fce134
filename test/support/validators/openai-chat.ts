import { fields, halfCharacters, isBlank, isFields, isJsonObject, list, repeated, text, type Fields } from './body.ts';
import { schemaProblems, strictProblems } from './body.ts';

const NAME = /^[A-Za-z0-9_-]{1,64}$/;

/** Problems of a body of POST /chat/completions, by the rules of OpenAI's API reference and its error messages. */
export function validate(body: unknown): string[] {
  const root = fields(body);
  const problems = halfCharacters(body);
  const say = (problem: string) => problems.push(problem);
  if (text(root['model']) === '') say('model is missing');
  const messages = list(root['messages']).map(fields);
  if (messages.length === 0) say('messages is empty');
  if (!messages.some((message) => message['role'] === 'user')) say('there is no user message');
  /** Calls that wait for their result. */
  let open: unknown[] = [];
  const ids: unknown[] = [];
  for (const [index, message] of messages.entries()) {
    const where = `messages.${index}`;
    const { role } = message;
    if (role !== 'tool' && open.length > 0) {
      say(`${where} comes before the result of ${open.map(text).join(', ')}`);
      open = [];
    }
    switch (role) {
      case 'system':
      case 'developer':
        if (index > 0) say(`${where} is a ${role} message in the middle`);
        if (isBlank(message['content'])) say(`${where} is blank`);
        break;
      case 'user':
        for (const problem of userProblems(message['content'])) say(`${where} ${problem}`);
        break;
      case 'assistant': {
        const calls = list(message['tool_calls']).map(fields);
        if (message['tool_calls'] !== undefined && calls.length === 0) say(`${where} has an empty tool_calls`);
        if (calls.length === 0 && isBlank(message['content'])) say(`${where} is blank`);
        if (calls.length > 0 && message['content'] !== null && isBlank(message['content']))
          say(`${where} has blank content`);
        for (const call of calls) for (const problem of callProblems(call)) say(`${where} ${problem}`);
        open = calls.map((call) => call['id']);
        ids.push(...open);
        break;
      }
      case 'tool': {
        const id = message['tool_call_id'];
        if (!open.includes(id)) say(`${where} answers ${text(id)}, which waits for nothing`);
        open = open.filter((one) => one !== id);
        if (isBlank(message['content'])) say(`${where} is blank`);
        break;
      }
      default:
        say(`${where} has the role ${text(role)}`);
    }
  }
  if (open.length > 0) say(`${open.map(text).join(', ')} has no result`);
  for (const id of repeated(ids)) say(`the id ${text(id)} is used twice`);
  problems.push(...toolProblems(root));
  const format = fields(fields(root['response_format'])['json_schema']);
  if (format['strict'] === true) problems.push(...strictProblems(format['schema'], 'response_format'));
  return problems;
}

function userProblems(content: unknown): string[] {
  if (typeof content === 'string') return isBlank(content) ? ['is blank'] : [];
  if (list(content).length === 0) return ['has no content'];
  return list(content)
    .map(fields)
    .flatMap((part) => {
      if (part['type'] === 'text') return isBlank(part['text']) ? ['has a blank part'] : [];
      if (part['type'] === 'image_url') {
        return /^(https?:|data:image\/)/.test(text(fields(part['image_url'])['url']))
          ? []
          : ['has an image without URL'];
      }
      return part['type'] === 'file' || part['type'] === 'input_audio'
        ? []
        : [`has a part of type ${text(part['type'])}`];
    });
}

function callProblems(call: Fields): string[] {
  const called = fields(call['function']);
  const problems: string[] = [];
  if (call['type'] !== 'function') problems.push('has a call that is not a function');
  if (!/^.{1,40}$/.test(text(call['id']))) problems.push(`has the call id ${text(call['id'])}`);
  if (!NAME.test(text(called['name']))) problems.push(`has the function name ${text(called['name'])}`);
  if (!isJsonObject(called['arguments'])) problems.push('has arguments that are not an object');
  return problems;
}

function toolProblems(root: Fields): string[] {
  const problems: string[] = [];
  const tools = list(root['tools']).map((tool) => fields(fields(tool)['function']));
  if (root['tools'] !== undefined && tools.length === 0) problems.push('tools is empty');
  for (const tool of tools) {
    if (!NAME.test(text(tool['name']))) problems.push(`the tool name ${text(tool['name'])} is not allowed`);
    problems.push(...schemaProblems(tool['parameters'], `tool ${text(tool['name'])}`));
  }
  const choice = root['tool_choice'];
  if (typeof choice === 'string' && !['auto', 'none', 'required'].includes(choice))
    problems.push('an unknown tool_choice');
  if (choice !== undefined && tools.length === 0) problems.push('tool_choice without tools');
  if (isFields(choice) && !tools.some((tool) => tool['name'] === fields(choice['function'])['name'])) {
    problems.push('tool_choice names a tool that is not there');
  }
  return problems;
}
