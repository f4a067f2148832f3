"""Project memory as files: exported, imported, merged and replaced (memory.md §7).

`export.export_project(memory, ref, save_path, options, by=…, progress=…, is_cancelled=…)`,
`importer.import_project(memory, ref, import_path, options, by=…, progress=…, is_cancelled=…)`.
"""
