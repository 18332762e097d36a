"""What ships: weights for CTranslate2, the language model beside them, and how they travel."""
