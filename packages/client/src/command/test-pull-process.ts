// The command as a process that says at its end how much memory it ever held, in MB, on stderr.
process.on('exit', () => process.stderr.write(`\nheld ${Math.round(process.resourceUsage().maxRSS / 1024)} MB\n`))
await import('./main.ts')
