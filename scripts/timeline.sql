-- Time of dies and channels in a timeline; runs in SQLite on the tables of scripts/timeline_check.py, and in Perfetto's
-- trace processor.
SELECT
  CASE
    WHEN slice.name = 'transfer' THEN 'channels'
    WHEN slice.name IN ('busy', 'busy: suspending or resuming') THEN 'arrays'
    ELSE 'dies beside'
  END AS what,
  SUM(slice.dur) AS ns
FROM slice JOIN track ON slice.track_id = track.id
WHERE slice.name = 'transfer' OR slice.name LIKE 'busy%'
GROUP BY what
ORDER BY what;
