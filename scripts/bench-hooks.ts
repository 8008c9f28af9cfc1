import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** The input of a status line, as long as they usually are. */
export const HOOK_INPUT = JSON.stringify({
  session_id: '5b0a8a2e-6c2f-4a1e-9d7e-0f1e2d3c4b5a',
  cwd: '/somewhere',
  cost: { total_cost_usd: 1.5 },
  context_window: {
    context_window_size: 200_000,
    used_percentage: 61,
    current_usage: {
      input_tokens: 10,
      output_tokens: 400,
      cache_creation_input_tokens: 1_000,
      cache_read_input_tokens: 121_000,
    },
  },
  output_style: { name: 'x'.repeat(1_000) },
})

const READ =
  "let t='';process.stdin.setEncoding('utf8');for await(const c of process.stdin)t+=c;const socketPath=process.env.SOCKET;"

/** Programs that read standard input and post it, each in another way. */
export const POSTERS: Readonly<Record<string, string>> = {
  'reads input': `${READ}process.exit(0)`,
  'posts with node:net': `${READ}const{connect}=await import('node:net');const s=connect(socketPath);s.on('data',()=>{});s.on('close',()=>process.exit(0));s.write('POST /hooks/events HTTP/1.1\\r\\nHost: 127.0.0.1\\r\\nConnection: close\\r\\nContent-Length: '+Buffer.byteLength(t)+'\\r\\n\\r\\n'+t)`,
  'posts with node:http': `${READ}const{request}=await import('node:http');request({socketPath,method:'POST',path:'/hooks/events',agent:false},(r)=>r.resume().on('end',()=>process.exit(0))).end(t)`,
}

const SERVICE = `
require('node:http').createServer((q, r) => q.resume().on('end', () => r.end('{"outcome":"ok","session_id":null,"signals":[],"inject":null}')))
  .listen(process.env.SOCKET, () => console.log('ready'))`

/** A service in a process of its own that answers every event at once, and the folder that names it. */
export const hookService = async () => {
  const folder = mkdtempSync(join(tmpdir(), 'batonpass-bench-'))
  const emptyFolder = join(folder, 'empty')
  mkdirSync(emptyFolder, { mode: 0o700 })
  mkdirSync(join(folder, 'service'), { mode: 0o700 })
  const socket = join(folder, 'service', 'bench.sock')
  const env = { ...process.env, SOCKET: socket }
  const child = spawn(process.execPath, ['-e', SERVICE], { env, stdio: ['ignore', 'pipe', 'inherit'] })
  await new Promise((resolve) => child.stdout.once('data', resolve))
  const named = { v: 2, pid: child.pid, bootId: '', startTime: null, socket: 'service/bench.sock', address: null }
  writeFileSync(join(folder, 'service.json'), JSON.stringify(named), { mode: 0o600 })
  writeFileSync(join(folder, 'service.token'), randomBytes(32).toString('hex'), { mode: 0o600 })
  return {
    folder,
    emptyFolder,
    socket,
    [Symbol.asyncDispose]: async () => {
      child.kill()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
