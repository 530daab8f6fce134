import { fields, halfCharacters, isBlank, isFields, isJsonObject, list, repeated, text, type Fields } from './body.ts';
import { schemaProblems, strictProblems } from './body.ts';

const NAME = /^[A-Za-z0-9_-]{1,64}$/;

/** Problems of a body of POST /v1/responses, by the rules of OpenAI's API reference and its error messages. */
export function validate(body: unknown): string[] {
  const root = fields(body);
  const problems = halfCharacters(body);
  const say = (problem: string) => problems.push(problem);
  if (text(root['model']) === '') say('model is missing');
  const input = list(root['input']).map(fields);
  if (input.length === 0) say('input is empty');
  const limit = root['max_output_tokens'];
  if (limit !== undefined && !(typeof limit === 'number' && limit >= 16)) say('max_output_tokens is below 16');
  const stored = root['store'] !== false;
  let open: unknown[] = [];
  for (const [index, item] of input.entries()) {
    const where = `input.${index}`;
    const type = item['type'] ?? 'message';
    if (type === 'message' && item['role'] !== 'assistant' && open.length > 0) {
      say(`${where} comes before the output of ${open.map(text).join(', ')}`);
      open = [];
    }
    switch (type) {
      case 'message':
        for (const problem of messageProblems(item)) say(`${where} ${problem}`);
        break;
      case 'function_call':
        if (!/^.{1,64}$/.test(text(item['call_id']))) say(`${where} has the call id ${text(item['call_id'])}`);
        if (!NAME.test(text(item['name']))) say(`${where} has the name ${text(item['name'])}`);
        if (!isJsonObject(item['arguments'])) say(`${where} has arguments that are not an object`);
        open.push(item['call_id']);
        break;
      case 'function_call_output':
        if (!open.includes(item['call_id'])) say(`${where} answers ${text(item['call_id'])}, which waits for nothing`);
        open = open.filter((one) => one !== item['call_id']);
        for (const problem of outputProblems(item['output'])) say(`${where} ${problem}`);
        break;
      case 'reasoning': {
        if (!stored && isBlank(item['encrypted_content'])) say(`${where} is reasoning that nobody has the content of`);
        if (!Array.isArray(item['summary'])) say(`${where} has no summary`);
        const next = input[index + 1];
        const follows =
          next !== undefined &&
          (['reasoning', 'function_call'].includes(text(next['type'])) || next['role'] === 'assistant');
        if (!follows) say(`${where} is reasoning without what it led to`);
        break;
      }
      case 'item_reference':
        if (!stored) say(`${where} refers to something that was not stored`);
        break;
      default:
        if (typeof type !== 'string') say(`${where} has no type`);
    }
  }
  if (open.length > 0) say(`${open.map(text).join(', ')} has no output`);
  const calls = input.filter((item) => item['type'] === 'function_call');
  for (const id of repeated(calls.map((call) => call['call_id']))) say(`the call id ${text(id)} is used twice`);
  const thoughts = input.filter((item) => item['type'] === 'reasoning' && item['id'] !== undefined);
  for (const id of repeated(thoughts.map((item) => item['id']))) say(`the reasoning ${text(id)} is there twice`);
  problems.push(...toolProblems(root));
  const format = fields(fields(root['text'])['format']);
  if (format['type'] === 'json_schema') {
    if (!NAME.test(text(format['name']))) say('the format has no name');
    if (format['strict'] === true) problems.push(...strictProblems(format['schema'], 'text.format'));
  }
  return problems;
}

function messageProblems({ role, content }: Fields): string[] {
  const problems = ['user', 'assistant', 'system', 'developer'].includes(text(role))
    ? []
    : [`has the role ${text(role)}`];
  if (typeof content === 'string') return isBlank(content) ? [...problems, 'is blank'] : problems;
  if (list(content).length === 0) return [...problems, 'has no content'];
  return [...problems, ...list(content).flatMap((part) => partProblems(fields(part)))];
}

function partProblems(part: Fields): string[] {
  switch (part['type']) {
    case 'input_text':
    case 'output_text':
      return isBlank(part['text']) ? ['has a blank part'] : [];
    case 'input_image':
      return /^(https?:|data:image\/)/.test(text(part['image_url'])) ? [] : ['has an image without URL'];
    case 'input_file':
      return part['file_url'] !== undefined || (!isBlank(part['filename']) && /^data:/.test(text(part['file_data'])))
        ? []
        : ['has a file without data'];
    default:
      return [`has a part of type ${text(part['type'])}`];
  }
}

function outputProblems(output: unknown): string[] {
  if (typeof output === 'string') return isBlank(output) ? ['has a blank output'] : [];
  if (list(output).length === 0) return ['has no output'];
  return list(output).flatMap((part) => partProblems(fields(part)));
}

function toolProblems(root: Fields): string[] {
  const problems: string[] = [];
  const tools = list(root['tools']).map(fields);
  for (const tool of tools) {
    if (tool['type'] !== 'function') continue;
    if (!NAME.test(text(tool['name']))) problems.push(`the tool name ${text(tool['name'])} is not allowed`);
    problems.push(...schemaProblems(tool['parameters'], `tool ${text(tool['name'])}`));
  }
  const choice = root['tool_choice'];
  const has = (name: unknown) => tools.some((tool) => tool['name'] === name);
  if (typeof choice === 'string' && !['auto', 'none', 'required'].includes(choice))
    problems.push('an unknown tool_choice');
  if (isFields(choice)) {
    const named = choice['type'] === 'allowed_tools' ? list(choice['tools']).map(fields) : [choice];
    for (const { name } of named) if (!has(name)) problems.push(`tool_choice names ${text(name)}, which is not there`);
    if (named.length === 0) problems.push('tool_choice allows nothing');
  }
  return problems;
}
