import { Link } from 'wouter';
import { CopyButton } from '../ui/copy-button.tsx';

const KEY = 'export ANTHROPIC_API_KEY=sk-ant-…';
const LOCAL = 'ollama run qwen3';

/** The first time, without any model: what works as it is, and the two ways to a real one. */
export function FirstRun() {
  return (
    <aside className="first-run" aria-label="Which model answers">
      <h2>A script answers for now</h2>
      <p>
        No model was found, so authored decisions stand in for one. Everything around them is real: pick one of the
        lines above and watch it.
      </p>
      <div className="first-ways">
        <section>
          <h3>What works already</h3>
          <ul>
            <li>tools, with their checks and their results</li>
            <li>approvals: nothing is written before you say yes</li>
            <li>
              the log of every step: “Inspect” in a conversation shows time, prompts and cost, and{' '}
              <Link href="/agents">Agents</Link> what may be used
            </li>
          </ul>
        </section>
        <section>
          <h3>For a real model</h3>
          <p>Set a key where the server runs. OpenAI and Google have theirs.</p>
          <p className="command">
            <code>{KEY}</code>
            <CopyButton text={KEY} />
          </p>
          <p>Or run one on this machine. Ollama, LM Studio, llama.cpp and vLLM are found by themselves.</p>
          <p className="command">
            <code>{LOCAL}</code>
            <CopyButton text={LOCAL} />
          </p>
          <p>Then start the server again.</p>
        </section>
      </div>
    </aside>
  );
}
