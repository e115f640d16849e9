// Compiles specifications, a JSON object of name and tree on stdin, to Python: a JSON object of file and text.
import compiler from 'kaitai-struct-compiler'

const given = JSON.parse(await new Response(process.stdin).text())
const files = {}
for (const [name, tree] of Object.entries(given)) {
  for (const text of Object.values(await compiler.compile('python', tree, null, false))) files[name] = text
}
console.log(JSON.stringify(files))
