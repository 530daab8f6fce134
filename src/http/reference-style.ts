/** The one style of the reference page. */
export const STYLE = `
:root { color-scheme: light dark; --line: light-dark(#d8dce3, #333a45); --dim: light-dark(#5a6372, #98a2b3); --soft: light-dark(#f4f6f9, #191d24); --link: light-dark(#0b5cad, #79b8ff) }
* { box-sizing: border-box }
body { margin: 0; font: 15px/1.5 system-ui, sans-serif; display: grid; grid-template-columns: minmax(15rem, 22rem) minmax(0, 1fr) }
nav { position: sticky; top: 0; height: 100vh; overflow: auto; padding: 1rem; border-right: 1px solid var(--line); background: var(--soft); font-size: 13px }
nav ul { list-style: none; margin: 0; padding: 0 } nav a { display: block; padding: .15rem 0; overflow-wrap: anywhere }
nav h2 { font-size: 12px; margin: 1.2rem 0 .3rem; color: var(--dim) } .brand { font-weight: 700; font-size: 16px; margin: 0 }
main { padding: 1.5rem 2rem 4rem; max-width: 70rem } section { border-top: 1px solid var(--line); padding: 1rem 0; scroll-margin-top: 1rem }
a { color: var(--link); text-decoration: none } a:hover, a:focus-visible { text-decoration: underline }
h3 { margin: 0 0 .4rem; font-size: 16px } h4 { margin: .8rem 0 .2rem; font-size: 13px; color: var(--dim) }
code { font: 13px/1.4 ui-monospace, monospace; overflow-wrap: anywhere } i { color: var(--dim); font-size: 12px }
table { border-collapse: collapse; width: 100%; margin: .4rem 0; font-size: 14px } caption { text-align: left; font-size: 13px; font-weight: 700; color: var(--dim); padding: .4rem 0 .2rem }
th, td { text-align: left; vertical-align: top; padding: .3rem .6rem .3rem 0; border-bottom: 1px solid var(--line); font-weight: 400 }
b.GET { color: light-dark(#0a6b3d, #63d297) } b.POST { color: light-dark(#0b5cad, #79b8ff) } b.DELETE { color: light-dark(#b3261e, #ff8a80) } b.PATCH { color: light-dark(#8a5300, #ffc46b) }
@media (max-width: 50rem) { body { display: block } nav { position: static; height: auto; border: 0; border-bottom: 1px solid var(--line) } main { padding: 1rem } }
`;
