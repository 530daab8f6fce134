/** What was found in a text, by name; undefined where there is nothing. */
export type SignFinder = (text: string) => string | undefined;

const EARLIER =
  '(?:all |any |your |the |my |of |these |those )*(?:previous|prior|earlier|above|preceding|original|initial|system)';
const ORDERS = '(?:instructions?|prompts?|rules?|directions?|messages?|guidelines|commands?|context)';

/**
 * Signs by their names. Each is more than a word that honest texts have: a verb of setting aside together with what is set
 * aside, or the marks by which chat templates tell roles apart. Bounded repetitions only: texts of any length take time in
 * proportion to it.
 */
const SIGNS: readonly (readonly [string, RegExp])[] = [
  ['ignore_instructions', new RegExp(`\\b(?:ignore|disregard|forget|override|bypass|discard) ${EARLIER} ${ORDERS}\\b`)],
  ['ignore_everything', /\b(?:ignore|disregard|forget) everything (?:above|before|you (?:were|have been) told)\b/],
  ['new_instructions', /\b(?:your|the) new (?:system )?(?:instructions?|prompt|task) (?:is|are|:)/],
  [
    'role_play',
    /\byou are (?:now|no longer) (?:bound|restricted|dan\b|an? (?:unrestricted|unfiltered|jailbroken|different ai))/,
  ],
  ['no_rules', /\bact (?:as if|like) (?:you have|there are) no (?:rules|restrictions|limits|guidelines)\b/],
  [
    'reveal_prompt',
    /\b(?:reveal|print|repeat|show|output|leak) (?:me )?(?:your|the) (?:full |entire |hidden |exact )?system (?:prompt|message|instructions)\b/,
  ],
  ['hide_from_user', /\bdo not (?:tell|mention this to|inform|alert|reveal this to) the user\b/],
  [
    'template_marks',
    /<\|(?:im_start|im_end|system|user|assistant|endoftext|eot_id|start_header_id)\|>|\[\/?inst\]|<<\/?sys>>|<\/?(?:system|assistant)>/,
  ],
  ['role_line', /(?:^|\n) ?(?:###? ?)?(?:system|developer)(?: prompt| message)? ?: ?(?=\S)/],
  [
    'ignore_instructions_de',
    /\b(?:ignoriere|vergiss|missachte) (?:alle |deine |die |sämtliche )*(?:vorherigen|bisherigen|obigen|früheren) (?:anweisungen|regeln|befehle|vorgaben)\b/,
  ],
  [
    'ignore_instructions_fr',
    /\b(?:ignore[zr]?|oublie[zr]?) (?:toutes )?(?:les|tes|vos) (?:instructions|consignes|règles) (?:précédentes|antérieures|ci-dessus)/,
  ],
  [
    'ignore_instructions_es',
    /\b(?:ignora|olvida|descarta) (?:todas )?(?:las|tus) (?:instrucciones|reglas|órdenes) (?:anteriores|previas)/,
  ],
];

/** What nobody sees, and tags: characters that carry text which only a model reads. */
const UNSEEN = /[\p{Default_Ignorable_Code_Point}\u{E0000}-\u{E007F}]/gu;
const TAGS = /[\u{E0020}-\u{E007E}]{4,}/u;

/** Looks for signs whatever the case, the forms of letters and the space between words. */
export function injectionFinder(): SignFinder {
  return (text) => {
    if (TAGS.test(text)) return 'hidden_text';
    const plain = text
      .normalize('NFKC')
      .replace(UNSEEN, '')
      .replace(/[^\S\n]+/g, ' ')
      .toLowerCase();
    const line = plain.replace(/\s+/g, ' ');
    return SIGNS.find(([name, sign]) => sign.test(name === 'role_line' ? plain : line))?.[0];
  };
}
