import {
  fields,
  halfCharacters,
  isBlank,
  isFields,
  list,
  repeated,
  schemaProblems,
  text,
  type Fields,
} from './body.ts';

const ID = /^[A-Za-z0-9_-]{1,64}$/;
const PICTURES = ['image/jpeg', 'image/png', 'image/gif', 'image/webp'];

/** Problems of a body of POST /v1/messages, by the rules of Anthropic's API reference and its error messages. */
export function validate(body: unknown): string[] {
  const root = fields(body);
  const problems = halfCharacters(body);
  const say = (problem: string) => problems.push(problem);
  if (text(root['model']) === '') say('model is missing');
  if (!(Number.isInteger(root['max_tokens']) && (root['max_tokens'] as number) > 0)) say('max_tokens is not positive');
  const temperature = root['temperature'];
  if (temperature !== undefined && !(typeof temperature === 'number' && temperature >= 0 && temperature <= 1)) {
    say('temperature is not between 0 and 1');
  }
  const system = root['system'];
  if (typeof system === 'string' && isBlank(system)) say('system is blank');
  for (const block of list(system)) if (isBlank(fields(block)['text'])) say('a system block is blank');

  const messages = list(root['messages']).map(fields);
  if (messages.length === 0) say('messages is empty');
  if (messages[0]?.['role'] !== 'user') say('the first message is not the user’s');
  for (const [index, message] of messages.entries()) {
    const { role } = message;
    const where = `messages.${index}`;
    if (role !== 'user' && role !== 'assistant') say(`${where} has the role ${text(role)}`);
    if (index > 0 && messages[index - 1]?.['role'] === role) say(`${where} has the role of the message before it`);
    for (const problem of contentProblems(message)) say(`${where} ${problem}`);
    for (const problem of pairProblems(message, messages[index + 1], messages[index - 1])) say(`${where} ${problem}`);
  }
  const calls = messages.flatMap((message) => ofType(message, 'tool_use'));
  for (const id of repeated(calls.map((call) => call['id']))) say(`the id ${text(id)} is used twice`);
  const last = messages.at(-1);
  if (last?.['role'] === 'assistant' && openServerCalls(last).length === 0) say('the last message is a prefill');

  const tools = list(root['tools']).map(fields);
  if (calls.length > 0 && tools.length === 0) say('there are tool_use blocks and no tools');
  for (const tool of tools) {
    if (!ID.test(text(tool['name']))) say(`the tool name ${text(tool['name'])} is not allowed`);
    // Anthropic's own, without a schema.
    if (/^(tool_search_tool_(bm25|regex)|web_search)_\d+$/.test(text(tool['type']))) continue;
    problems.push(...schemaProblems(tool['input_schema'], `tool ${text(tool['name'])}`));
    if (tool['defer_loading'] === true && 'cache_control' in tool)
      say(`the deferred tool ${text(tool['name'])} has a marker`);
    if (hasTuple(tool['input_schema'])) say(`tool ${text(tool['name'])} is not JSON Schema 2020-12`);
  }
  for (const name of repeated(tools.map((tool) => tool['name']))) say(`the tool ${text(name)} is there twice`);
  const choice = fields(root['tool_choice']);
  if (isFields(root['tool_choice'])) {
    if (!['auto', 'any', 'tool', 'none'].includes(text(choice['type']))) say('tool_choice has an unknown type');
    if (choice['type'] === 'tool' && !tools.some((tool) => tool['name'] === choice['name'])) {
      say('tool_choice names a tool that is not there');
    }
  }
  const thinking = fields(root['thinking']);
  if (thinking['type'] === 'enabled') {
    if (Number(thinking['budget_tokens']) >= Number(root['max_tokens']))
      say('the thinking budget is not below max_tokens');
    if (['any', 'tool'].includes(text(choice['type']))) say('a forced tool with thinking');
  }
  const markers = JSON.stringify(body ?? null).split('"cache_control":{').length - 1;
  if (markers > 4) say(`there are ${markers} cache markers`);
  return problems;
}

function blocks(message: Fields | undefined): Fields[] {
  return list(message?.['content']).map(fields);
}

function ofType(message: Fields | undefined, type: string): Fields[] {
  return blocks(message).filter((block) => block['type'] === type);
}

function contentProblems(message: Fields): string[] {
  const { content } = message;
  if (typeof content === 'string') return isBlank(content) ? ['is blank'] : [];
  if (list(content).length === 0) return ['has no content'];
  const problems: string[] = [];
  for (const block of blocks(message)) problems.push(...blockProblems(block));
  const last = text(blocks(message).at(-1)?.['type']);
  if (message['role'] === 'assistant' && /thinking$/.test(last)) problems.push('ends with thinking');
  return problems;
}

function blockProblems(block: Fields): string[] {
  switch (block['type']) {
    case 'text':
      return isBlank(block['text']) ? ['has a blank text block'] : [];
    case 'thinking':
      return isBlank(block['signature']) || typeof block['thinking'] !== 'string'
        ? ['has thinking without signature']
        : [];
    case 'redacted_thinking':
      return isBlank(block['data']) ? ['has redacted thinking without data'] : [];
    case 'tool_use': {
      const problems = ID.test(text(block['id'])) ? [] : [`has the tool_use id ${text(block['id'])}`];
      if (!isFields(block['input'])) problems.push('has a tool_use whose input is not an object');
      return problems;
    }
    case 'tool_result': {
      const { content } = block;
      if (typeof content === 'string') return isBlank(content) ? ['has a blank tool_result'] : [];
      if (list(content).length === 0) return ['has an empty tool_result'];
      return list(content).flatMap((item) => blockProblems(fields(item)));
    }
    case 'image':
    case 'document': {
      const source = fields(block['source']);
      if (source['type'] === 'url') return URL.canParse(text(source['url'])) ? [] : ['has a file without URL'];
      const types = block['type'] === 'image' ? PICTURES : ['application/pdf', 'text/plain'];
      const known = types.includes(text(source['media_type'])) && text(source['data']) !== '';
      return known ? [] : [`has a file of the type ${text(source['media_type'])}`];
    }
    case 'server_tool_use':
      return text(block['id']).startsWith('srvtoolu_') && isFields(block['input'])
        ? []
        : ['has a malformed server call'];
    default:
      return typeof block['type'] === 'string' ? [] : ['has a block without type'];
  }
}

/** Each tool_use has exactly one tool_result, in the next message, before anything else there. */
function pairProblems(message: Fields, next: Fields | undefined, before: Fields | undefined): string[] {
  const problems: string[] = [];
  if (message['role'] === 'assistant') {
    const answered = ofType(next, 'tool_result').map((block) => block['tool_use_id']);
    for (const { id } of ofType(message, 'tool_use')) {
      const count = answered.filter((one) => one === id).length;
      if (count !== 1) problems.push(`has the tool_use ${text(id)} with ${count} results`);
    }
    if (next !== undefined && openServerCalls(message).length > 0) problems.push('has a server call without result');
    return problems;
  }
  const asked = ofType(before, 'tool_use').map((block) => block['id']);
  const results = ofType(message, 'tool_result');
  for (const { tool_use_id: id } of results) {
    if (!asked.includes(id)) problems.push(`answers ${text(id)}, which the message before did not ask`);
  }
  if (
    blocks(message)
      .slice(0, results.length)
      .some((block) => block['type'] !== 'tool_result')
  ) {
    problems.push('has something before its tool_results');
  }
  return problems;
}

function openServerCalls(message: Fields): Fields[] {
  const answered = blocks(message).map((block) => block['tool_use_id']);
  return ofType(message, 'server_tool_use').filter((call) => !answered.includes(call['id']));
}

function hasTuple(schema: unknown): boolean {
  if (typeof schema !== 'object' || schema === null) return false;
  if (isFields(schema) && Array.isArray(schema['items'])) return true;
  return Object.values(schema).some(hasTuple);
}
