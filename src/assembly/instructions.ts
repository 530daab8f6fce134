import { canonicalJson } from '../base/json.ts';
import type { EffectiveAgent } from '../domain/agent.ts';
import type { ToolDefinition } from '../domain/tool.ts';

/** What the stable text is made of. Nothing here changes within a turn, and no time and no conversation is in it. */
export interface InstructionParts {
  readonly grammar: EffectiveAgent['grammar'];
  readonly systemPrompt: string;
  readonly additional: string;
  /** For the `json` grammar, which has no other place for them: the grant less the user's selection. */
  readonly tools: readonly ToolDefinition[];
}

/**
 * The stable, cacheable text of an agent.
 *
 * The same parts give the same bytes. Unmet claims must not reach `tools`: accounts change between turns, and the text
 * would change with them.
 */
export function instructions(parts: InstructionParts): string {
  const { grammar, systemPrompt, additional, tools } = parts;
  const protocol = grammar === 'json' ? [PROTOCOL, catalogue(tools)] : [];
  return joined([systemPrompt, additional, ...protocol]);
}

/** Texts one below the other, those that say nothing left out. */
export function joined(texts: readonly string[]): string {
  return texts.map(tidy).filter(Boolean).join('\n\n');
}

/** Describes `decisionOf` of domain/decision.ts to the model: what it refuses has to be said here. */
const PROTOCOL = `# How you answer

Answer every time with exactly one JSON object and nothing around it: no other text, no code fence.

To use a tool:
{"type":"tool","tool":"<name of the tool>","arguments":{}}
\`arguments\` is an object that fits the tool's schema. The tool's result comes back as the next message.

To give your final answer:
{"type":"finish","answer":"<your answer>"}
\`answer\` is nonempty text. It ends your work on the message.

Use exactly these keys. One object is one decision: use one tool at a time.`;

function catalogue(tools: readonly ToolDefinition[]): string {
  if (tools.length === 0) return '# Tools\n\nThere are none: give your final answer.';
  return `# Tools\n\n${tools.map(describe).join('\n\n')}`;
}

function describe({ name, description, inputSchema }: ToolDefinition): string {
  return [`## ${name}`, tidy(description), `Schema of its arguments: ${canonicalJson(inputSchema)}`]
    .filter(Boolean)
    .join('\n');
}

/** One kind of line end, nothing that cannot be encoded, no blank ends: an editor must not decide what is cached. */
function tidy(text: string): string {
  return text
    .toWellFormed()
    .replace(/\r\n?/g, '\n')
    .replace(/^(?:[ \t]*\n)+/, '')
    .trimEnd();
}
