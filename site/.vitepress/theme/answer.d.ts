// The answers of package playground.
export interface Note { file: string, line: number, col: number, message: string, rule: string }

export interface Change { rule: string, verdict: string, points: string[], message: string, line: number }

export interface Answer {
  import: string
  api: string
  wire: string
  page: string
  specNotes: Note[]
  hookNotes: Note[]
  changes: Change[]
  changesProblem: string
  changesCompared: boolean
}
