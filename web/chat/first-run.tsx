import { Check } from 'lucide-react';
import { Link } from 'wouter';
import { CopyButton } from '../ui/copy-button.tsx';

const WAYS = [
  {
    title: 'A key',
    about: 'Anthropic, OpenAI or Google: set its variable where the server runs.',
    commands: [
      'export ANTHROPIC_API_KEY=sk-ant-…',
      'export OPENAI_API_KEY=sk-…',
      'export GOOGLE_GENERATIVE_AI_API_KEY=…',
    ],
  },
  {
    title: 'A model on this machine',
    about: 'Ollama, LM Studio, llama.cpp and vLLM are found by themselves. No key, and nothing leaves the machine.',
    commands: ['ollama run qwen3'],
  },
] as const;

/** The first time, without any model: what works as it is, and the two ways to a real one. */
export function FirstRun() {
  return (
    <aside className="first-run" aria-label="Which model answers">
      <h2>A script answers for now</h2>
      <p>
        No model was found, so a script decides in its place. All else is real: pick one of the lines above and watch.
      </p>
      <ul className="first-works" aria-label="What works already">
        <li>
          <Check size={15} aria-hidden /> Tools run, with their checks and their results.
        </li>
        <li>
          <Check size={15} aria-hidden /> What needs a yes waits for yours.
        </li>
        <li>
          <Check size={15} aria-hidden /> Every step is on record: “Inspect” shows time, prompts and cost.
        </li>
        <li>
          <Check size={15} aria-hidden />
          <span>
            <Link href="/agents">Agents</Link> shows what each may do, and who is asked before.
          </span>
        </li>
      </ul>
      <h3>For a real model, one of these, then start the server again</h3>
      <div className="first-ways">
        {WAYS.map(({ title, about, commands }) => (
          <section key={title}>
            <h4>{title}</h4>
            <p>{about}</p>
            {commands.map((command) => (
              <p key={command} className="command">
                <code>{command}</code>
                <CopyButton text={command} label={`Copy ${command.split(/[ =]/)[1] ?? command}`} />
              </p>
            ))}
          </section>
        ))}
      </div>
    </aside>
  );
}
